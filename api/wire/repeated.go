package wire

import (
	"bytes"
	"encoding/json"
)

// repeated gives the first name that a JSON object has twice, "" when it has distinct names only. object is valid JSON;
// distinct is the number of its different names.
func repeated(object []byte, distinct int) string {
	if members(object) == distinct {
		return ""
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	_, _ = decoder.Token() // the opening brace
	seen := make(map[string]bool, distinct)
	for decoder.More() {
		name, _ := decoder.Token()
		text, _ := name.(string)
		if seen[text] {
			return text
		}
		seen[text] = true
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
	}
	return ""
}

// members counts the members of an object: its colons outside of strings and of what is within.
func members(object []byte) int {
	n, depth, inString := 0, 0, false
	for i := 0; i < len(object); i++ {
		switch b := object[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		case b == ':' && depth == 1:
			n++
		}
	}
	return n
}
