package metadata

import (
	"slices"
	"strings"
)

// sameJSON compares two JSON values by meaning: order of keys, spacing, spelling of strings, and null
// members against absent ones do not count. Numbers compare by their text: 1 and 1.0 differ, as they
// do for an engine that reads a default value.
func sameJSON(a, b []byte) bool {
	return string(appendCanonical(nil, a)) == string(appendCanonical(nil, b))
}

func appendCanonical(out, raw []byte) []byte {
	switch {
	case isObject(raw):
		return appendCanonicalObject(out, raw)
	case isArray(raw):
		out = append(out, '[')
		eachElement(raw, func(value []byte, _ int) {
			out = append(appendCanonical(out, value), ',')
		})
		return append(out, ']')
	case isString(raw):
		return appendString(out, string(unquoteBytes(raw)))
	}
	return append(out, raw...)
}

func appendCanonicalObject(out, raw []byte) []byte {
	members, _ := membersOf(raw)
	members = slices.DeleteFunc(members, func(m member) bool { return isNull(m.value) })
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	out = append(out, '{')
	for _, m := range members {
		out = append(appendString(out, m.key), ':')
		if m.key == "type" && isString(m.value) {
			out = appendString(out, normalType(string(unquoteBytes(m.value))))
		} else {
			out = appendCanonical(out, m.value)
		}
		out = append(out, ',')
	}
	return append(out, '}')
}

// normalType spells a primitive type without spaces: "decimal(10, 2)" and "decimal(10,2)" are one type.
func normalType(name string) string { return strings.ReplaceAll(name, " ", "") }
