package classify

const mostIBAN = 34

// findIBAN looks for an IBAN whose check digits begin at i: the letters of a country before them, as many letters and digits
// as its IBANs have, compact or with blanks after groups of four, and the remainder 1 by 97. Case does not count. It gives
// where the IBAN ends.
func findIBAN(f *found, text string, i int) (end int, ok bool) {
	start := i - 2
	if start < 0 || !isLetter(text[start]) || !isLetter(text[start+1]) || wordAt(text, start-1) {
		return 0, false
	}
	var room [mostIBAN]byte
	number := room[:ibanLength(upper(text[start]), upper(text[start+1]))]
	if end, ok = spell(number, text, start); !ok || !isDigit(number[2]) || !isDigit(number[3]) || remainder97(number) != 1 {
		return 0, false
	}
	f.add(iban, true, start, end, text)
	return end, true
}

// spell takes as many letters and digits as there is room for, with blanks between groups of four, and gives where a word
// ends by that.
func spell(number []byte, text string, end int) (int, bool) {
	for n := 0; n < len(number); end++ {
		switch {
		case end == len(text):
			return 0, false
		case isDigit(text[end]) || isLetter(text[end]):
			number[n] = upper(text[end])
			n++
		case text[end] != ' ' || n%4 != 0 || text[end-1] == ' ':
			return 0, false
		}
	}
	return end, len(number) > 0 && !wordAt(text, end)
}

// upper gives the capital of a letter; a digit stays.
func upper(c byte) byte {
	if c >= 'a' {
		c -= 'a' - 'A'
	}
	return c
}

// remainder97 is that of an IBAN whose first four characters are put last and whose letters are numbers from 10.
func remainder97(iban []byte) int {
	rest := 0
	for k := range iban {
		c := iban[(k+4)%len(iban)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest
}

// ibanLength is how long the IBANs of a country are, 0 where it has none.
func ibanLength(a, b byte) int {
	const countries = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27" +
		"GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20" +
		"MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26" +
		"UA29VA22VG24XK20YE30"
	for k := 0; k < len(countries); k += 4 {
		if countries[k] == a && countries[k+1] == b {
			return int(countries[k+2]-'0')*10 + int(countries[k+3]-'0')
		}
	}
	return 0
}
