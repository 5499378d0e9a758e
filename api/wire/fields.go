package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
)

// Fields reads the members of a JSON object by their exact names; encoding/json alone would ignore case. The first
// wrong or missing field is kept, later reads give zero values, and Err gives it at the end. Null counts as absent.
type Fields struct {
	path    string // of this object in the body, with its trailing dot
	members map[string]json.RawMessage
	err     *error // shared with the objects within
}

// Err gives what was wrong first: an Invalid that names the field.
func (f *Fields) Err() error { return *f.err }

// Fail records what is wrong with a field, as a clause such as "must not be empty".
func (f *Fields) Fail(name, clause string, args ...any) {
	if *f.err == nil {
		*f.err = fault.New(fault.Invalid, "Field %q %s.", f.path+name, fmt.Sprintf(clause, args...))
	}
}

// Only refuses members of other names.
func (f *Fields) Only(names ...string) {
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		if !slices.Contains(names, name) {
			f.Fail(name, "is unknown; this object takes %s", strings.Join(names, ", "))
			return
		}
	}
}

// Names gives the names of the fields that are there and not null, in order.
func (f *Fields) Names() []string {
	out := make([]string, 0, len(f.members))
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		if f.Has(name) {
			out = append(out, name)
		}
	}
	return out
}

// Has tells whether the field is there and not null.
func (f *Fields) Has(name string) bool {
	raw, ok := f.members[name]
	return ok && string(raw) != "null"
}

// Given tells whether the member is there, null or not.
func (f *Fields) Given(name string) bool {
	_, ok := f.members[name]
	return ok
}

// String gives a required string that is not empty.
func (f *Fields) String(name string) string {
	s := f.OptionalString(name)
	if !f.Has(name) {
		f.Fail(name, "is required")
	} else if s == "" {
		f.Fail(name, "must not be empty")
	}
	return s
}

// OptionalString gives a string, "" when absent.
func (f *Fields) OptionalString(name string) string { return optional[string](f, name, "a string") }

// Text gives a string for people, "" when absent: of at most so many characters, all of them printable.
func (f *Fields) Text(name string, longest int) string {
	s := f.OptionalString(name)
	if utf8.RuneCountInString(s) > longest {
		f.Fail(name, "must have at most %d characters", longest)
		return ""
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		f.Fail(name, "must have printable characters and spaces only")
		return ""
	}
	return s
}

// Bool gives a boolean, false when absent.
func (f *Fields) Bool(name string) bool { return optional[bool](f, name, "true or false") }

// Int64 gives a required whole number.
func (f *Fields) Int64(name string) int64 {
	if !f.Has(name) {
		f.Fail(name, "is required")
	}
	return optional[int64](f, name, "a whole number")
}

// Strings gives a required list of strings.
func (f *Fields) Strings(name string) []string {
	if !f.Has(name) {
		f.Fail(name, "is required")
		return nil
	}
	return f.OptionalStrings(name)
}

// OptionalStrings gives a list of strings, nil when absent.
func (f *Fields) OptionalStrings(name string) []string {
	list := optional[[]*string](f, name, "a list of strings")
	out := make([]string, 0, len(list))
	for i, s := range list {
		if s == nil {
			f.Fail(fmt.Sprintf("%s[%d]", name, i), "must be a string, not null")
			return nil
		}
		out = append(out, *s)
	}
	if !f.Has(name) {
		return nil
	}
	return out
}

// OptionalStringMap gives an object whose values are strings, nil when absent.
func (f *Fields) OptionalStringMap(name string) map[string]string {
	var raw map[string]json.RawMessage
	if raw = optional[map[string]json.RawMessage](f, name, "an object of strings"); raw == nil {
		return nil
	}
	f.once(name, f.members[name], len(raw))
	out := make(map[string]string, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		var s *string
		if json.Unmarshal(raw[key], &s) != nil || s == nil {
			f.Fail(name+"."+key, "must be a string, not %s", kindOf(raw[key]))
			return nil
		}
		out[key] = *s
	}
	return out
}

// Object gives the bytes of a required object.
func (f *Fields) Object(name string) json.RawMessage {
	if !f.Has(name) {
		f.Fail(name, "is required")
		return nil
	}
	return f.OptionalObject(name)
}

// OptionalObject gives the bytes of an object, nil when absent.
func (f *Fields) OptionalObject(name string) json.RawMessage {
	if !f.Has(name) {
		return nil
	}
	raw := f.members[name]
	if raw[0] != '{' {
		f.Fail(name, "must be an object, not %s", kindOf(raw))
		return nil
	}
	return raw
}

// Raw gives the bytes of a field as sent, nil when absent.
func (f *Fields) Raw(name string) json.RawMessage {
	if !f.Has(name) {
		return nil
	}
	return f.members[name]
}

// List gives the elements of a required list as sent.
func (f *Fields) List(name string) []json.RawMessage {
	if !f.Has(name) {
		f.Fail(name, "is required")
		return nil
	}
	return optional[[]json.RawMessage](f, name, "a list")
}

// Nested gives the members of a required object.
func (f *Fields) Nested(name string) *Fields {
	raw := f.Object(name)
	return f.within(name, raw)
}

// Map gives the objects of an object by their names; empty when absent.
func (f *Fields) Map(name string) map[string]*Fields {
	raw := optional[map[string]json.RawMessage](f, name, "an object")
	if raw != nil {
		f.once(name, f.members[name], len(raw))
	}
	out := make(map[string]*Fields, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		out[key] = f.element(name+"."+key, raw[key])
	}
	return out
}

// Elements gives the objects of a required list.
func (f *Fields) Elements(name string) []*Fields {
	list := f.List(name)
	out := make([]*Fields, 0, len(list))
	for i, raw := range list {
		out = append(out, f.element(fmt.Sprintf("%s[%d]", name, i), raw))
	}
	return out
}

func (f *Fields) element(name string, raw json.RawMessage) *Fields {
	if raw[0] != '{' {
		f.Fail(name, "must be an object, not %s", kindOf(raw))
		raw = nil
	}
	return f.within(name, raw)
}

func (f *Fields) within(name string, raw json.RawMessage) *Fields {
	inner := &Fields{path: f.path + name + ".", err: f.err}
	if raw != nil {
		// The body was valid JSON as a whole and raw is an object of it: this cannot fail.
		_ = json.Unmarshal(raw, &inner.members)
		f.once(name, raw, len(inner.members))
	}
	return inner
}

// once refuses an object of a field that has a member twice: readers differ in which of them they take.
func (f *Fields) once(name string, raw json.RawMessage, distinct int) {
	if twice := repeated(raw, distinct); twice != "" {
		f.Fail(name+"."+twice, "is given more than once; send each field once")
	}
}

func optional[T any](f *Fields, name, want string) T {
	var v T
	if !f.Has(name) {
		return v
	}
	raw := f.members[name]
	if err := json.Unmarshal(raw, &v); err != nil {
		var zero T
		if got := kindOf(raw); !strings.HasPrefix(want, got) {
			f.Fail(name, "must be %s, not %s", want, got)
		} else {
			f.Fail(name, "must be %s", want)
		}
		return zero
	}
	return v
}

func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
