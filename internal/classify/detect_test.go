package classify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// strength says how a text is found: not at all, weak or strong, as part of a text or as a whole.
func strength(f found, tag tagSet) string {
	s := ""
	switch {
	case f.strong&tag != 0:
		s = "strong"
	case f.weak&tag != 0:
		s = "weak"
	default:
		return "-"
	}
	if f.whole&tag != 0 {
		s += " whole"
	}
	return s
}

func TestDetectors(t *testing.T) {
	for _, c := range []struct {
		tag  tagSet
		want string
		text []string
	}{
		{email, "strong whole", []string{"ann@example.com", "a.b+c@mail.example.co.uk", "o'brien@example.com", "x@1.de", "josé@exämple.com", "ann@example.xn--p1ai", " ann@example.com "}},
		{email, "strong", []string{"write to ann@example.com.", "<ann@example.com>", "mailto:ann@example.com", "a@b.de,c@d.de", "Ann Smith (ann@example.com)", ".ann@example.com"}},
		{email, "-", []string{"@ann", "ann@", "ann@localhost", "ann@example.c", "a..b@example.com", "ann.@example.com", "ann@-example.com", "ann@example..com", "@", "@@@@", "ann@10.0.0.1", "7 apples @ 2.50", strings.Repeat("a", 65) + "@example.com"}},

		{pan, "strong whole", []string{"4111 1111 1111 1111", "4111-1111-1111-1111", "3782 822463 10005", "3056 930902 5904", "5555 5555 5555 4444", "6011 1111 1111 1117", "3530 1113 3330 0000", "2223 0031 2200 3222"}},
		{pan, "strong", []string{"card 4111 1111 1111 1111 exp 09/27", "4111 1111 1111 1111 0927", "No.4111-1111-1111-1111,", "12 4111 1111 1111 1111", "(4111 1111 1111 1111)"}},
		{pan, "weak whole", []string{"4111111111111111", "378282246310005", "4222222222222", "6759649826438453"}},
		{pan, "weak", []string{"card 4111111111111111", "4111111111111111."}},
		{pan, "-", []string{"4111 1111 1111 1112", "4111111111111112", "9999 9999 9999 9995", "1234 5678 9012 3452", "4111-1111 1111-1111", "41111111-11111111", "0.4111111111111111", "id4111111111111111", "4111_1111_1111_1111",
			"4111-1111-1111-1111-1111", "1111 4111 1111 1111 1111", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "3782822463100059"}},

		{phone, "strong whole", []string{"+49 30 1234567", "+4930123456", "+1 (212) 555-0123", "+12125550123", "(212) 555-0123", "212-555-0123", "212.555.0123", "212 555 0123", "1-212-555-0123", "+44 20 7946 0958", "+33 1 23 45 67 89",
			"01 23 45 67 89", "01.23.45.67.89", "020 7946 0958", "030/1234567", "(030) 1234567", "0171 1234567", "+354 555 1234", "(+49) 30 123456"[1:]}},
		{phone, "strong", []string{"call +49 30 1234567 now", "tel:+12125550123", "T: 212-555-0123.", "fax 030/1234567, office"}},
		{phone, "weak whole", []string{"2125550123", "12125550123", "03012345678", "0612345678"}},
		{phone, "-", []string{"+1234", "+28 123456789", "+1 112 555 0123", "112-555-0123", "212-155-0123", "911-555-0123", "2024-01-02", "01.02.2024", "2024-01-02 03:04:05", "1234567890", "0012345678", "3.1415926535", "212-555-0123-99",
			"99-212-555-0123", "12:34:56", "1,234,567", "+12345678.90", "010.020.030.040", "2024-01-05-09.30.15.123456", "123-45-6789", "x2125550123", "2125550123a", "0123456"}},

		{iban, "strong whole", []string{"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "gb29nwbk60161331926819", "FR14 2004 1010 0505 0001 3M02 606", "NO9386011117947", "MT84MALT011000012345MTLCAST001S"}},
		{iban, "strong", []string{"IBAN: DE89 3704 0044 0532 0130 00, thanks", "pay to GB29NWBK60161331926819."}},
		{iban, "-", []string{"DE88370400440532013000", "DE8937040044053201300", "DE893704004405320130000", "XX89370400440532013000", "ADE89370400440532013000", "DE89", "DE89-3704-0044-0532-0130-00"}},

		{nationalID, "strong whole", []string{"123-45-6789", "1 85 05 78 006 084 91", "12345678-Z", "X1234567-L"}},
		{nationalID, "strong", []string{"SSN 123-45-6789.", "(123-45-6789)"}},
		{nationalID, "weak whole", []string{"185057800608491", "12345678Z", "X1234567L", "Y0000000Z"}},
		{nationalID, "-", []string{"000-45-6789", "666-45-6789", "900-45-6789", "123-00-6789", "123-45-0000", "123456789", "123 45 6789", "1-123-45-6789", "123-45-6789-1", "1 85 05 78 006 084 37", "5 85 05 78 006 084 36", "12345678A", "12345678", "W1234567L", "a12345678Z"}},

		{ip, "strong whole", []string{"10.20.30.40", "255.255.255.255", "0.0.0.0", "2001:db8::1", "fe80::1", "::1", "::ffff:10.20.30.40", "1:2:3:4:5:6:7:8"}},
		{ip, "strong", []string{"10.20.30.40/8", "from 10.20.30.40:8080", "[2001:db8::1]", "at 2001:db8::1.", "10.20.30.40."}},
		{ip, "-", []string{"1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "v1.2.3.4", "1.2.3.4a", "12:34:56", "aa:bb:cc:dd:ee:ff", "std::vector", "::", "a::b", "1:2:3:4:5:6:7:8:9", "2024-01-02T03:04:05", "10.20.30"}},
	} {
		for _, text := range c.text {
			assert.Equal(t, c.want, strength(detect(text), c.tag), "%s in %q", detectedTags()[trailing(c.tag)], text)
		}
	}
}

func trailing(tag tagSet) int {
	n := 0
	for tag >>= 1; tag != 0; tag >>= 1 {
		n++
	}
	return n
}

func TestTextsWithNothingInThem(t *testing.T) {
	for _, text := range []string{"", " ", "hello world", "größer als", "a/b/c", "SHIPPED", "2024-01-02T03:04:05.678Z", "0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d", "3.14", "-12", "1e10", "12%", "100 EUR", "10:30", "A4", "file-2024_01.parquet"} {
		f := detect(text)
		assert.Zero(t, f.strong|f.whole, text)
	}
}

// Numbers that mean nothing are found by chance; how often is what the shares of columns stand on.
func TestHowOftenNumbersLookLikeSomething(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		digits int
		tag    tagSet
		most   int // of a hundred
	}{{16, pan, 8}, {15, nationalID, 3}, {10, phone, 75}, {9, nationalID, 0}, {8, phone, 0}} {
		hits := 0
		for range 10_000 {
			text := make([]byte, c.digits)
			for i := range text {
				text[i] = byte('0' + r.IntN(10))
			}
			f := detect(string(text))
			assert.Zero(t, f.strong)
			if f.weak&c.tag != 0 {
				hits++
			}
		}
		assert.LessOrEqual(t, hits, c.most*100, fmt.Sprintf("%d digits as %s", c.digits, detectedTags()[trailing(c.tag)]))
	}
}

func TestNextMarkIsWhatALoopFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		text := make([]byte, r.IntN(40))
		for i := range text {
			text[i] = byte(r.IntN(256))
			if r.IntN(3) > 0 { // few marks
				text[i] = "abz/;?A\x00\xff\xb0\xc0 "[r.IntN(12)]
			}
		}
		from := r.IntN(len(text) + 1)
		want := from
		for want < len(text) && !isDigit(text[want]) && text[want] != ':' && text[want] != '@' {
			want++
		}
		if got := nextMark(string(text), from); got != want {
			t.Fatalf("in %q from %d: %d, want %d", text, from, got, want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, seed := range []string{"ann@example.com", "+1 (212) 555-0123", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "2001:db8::1", "1 85 05 78 006 084 91", "12345678-Z", "10.20.30.40", "((((1)))) -- .. //", "X1234567L", "1:1:1:1:1:1:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := detect(text)
		if got.whole&^(got.strong|got.weak) != 0 {
			t.Fatalf("%q is one as a whole of what is not in it: %+v", text, got)
		}
		if again := detect("  " + text + "  "); again != got {
			t.Fatalf("%q is %+v, and with blanks around it %+v", text, got, again)
		}
		if !strings.ContainsAny(text, "@:0123456789") && got != (found{}) {
			t.Fatalf("%q has nothing to start from, and is %+v", text, got)
		}
	})
}

// Texts that are made to be looked at again and again take no more time than their bytes warrant.
func TestLongTextsAreLookedAtOnce(t *testing.T) {
	for _, piece := range []string{"1:", "a@", "1-", "1 ", "a.b@", "::", "1", "+1", "(1) ", "DE89 ", "4111 1111 ", "a", "@", "01 ", "1."} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		start := time.Now()
		detect(text)
		assert.Less(t, time.Since(start), 3*time.Second, piece)
	}
}
