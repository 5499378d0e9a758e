package metadata

import (
	"encoding/json"

	"github.com/sluice-data/sluice/internal/fault"
)

// memberReader reads the members of an update and keeps the first error.
type memberReader struct {
	update *Update
	err    error
}

func (r *memberReader) bad(name string) {
	if r.err == nil {
		r.err = fault.New(fault.Invalid, "Invalid update %s: missing or invalid field %s", r.update.Action, name)
	}
}

func (r *memberReader) member(name string) json.RawMessage { return memberOf(r.update.Raw, name) }

// either gives the member of the first name that is there, with that name.
func (r *memberReader) either(name, older string) (json.RawMessage, string) {
	if value := r.member(name); value != nil {
		return value, name
	}
	if value := r.member(older); value != nil {
		return value, older
	}
	return nil, name
}

func (r *memberReader) string(name string) string {
	s, ok := stringOf(r.member(name))
	if !ok {
		r.bad(name)
	}
	return s
}

func (r *memberReader) int(name string) int {
	n, ok := intOf(r.member(name))
	if !ok {
		r.bad(name)
	}
	return n
}

func (r *memberReader) int64(name string) int64 {
	n, ok := int64Of(r.member(name))
	if !ok {
		r.bad(name)
	}
	return n
}

func (r *memberReader) ints(name string) []int {
	values, ok := intsOf(r.member(name))
	if !ok {
		r.bad(name)
	}
	return values
}

func (r *memberReader) int64s(name string) []int64 {
	values, ok := int64sOf(r.member(name))
	if !ok {
		r.bad(name)
	}
	return values
}

func (r *memberReader) object(name string) json.RawMessage {
	value := r.member(name)
	if !isObject(value) {
		r.bad(name)
	}
	return value
}

func (r *memberReader) strings(name, older string) []string {
	value, found := r.either(name, older)
	values, ok := stringsOf(value)
	if !ok {
		r.bad(found)
	}
	return values
}

func (r *memberReader) properties(name, older string) []member {
	value, found := r.either(name, older)
	members, ok := membersOf(value)
	if !ok {
		r.bad(found)
	}
	for _, m := range members {
		if !isString(m.value) {
			r.bad(found + " (property " + m.key + " is not a string)")
		}
	}
	return members
}

func (r *memberReader) snapshot() *Snapshot {
	raw := r.object("snapshot")
	if r.err != nil {
		return nil
	}
	s, err := decodeSnapshot(raw)
	if err != nil {
		r.err = fault.New(fault.Invalid, "Invalid update %s: %s", r.update.Action, fault.PublicMessage(err))
		return nil
	}
	return &s
}

// ref reads the members of a ref, which stand in the update itself.
func (r *memberReader) ref() Ref {
	ref, err := decodeRef(r.update.Raw)
	if err != nil && r.err == nil {
		r.err = fault.New(fault.Invalid, "Invalid update %s: %s", r.update.Action, fault.PublicMessage(err))
	}
	return ref
}

// statistics reads a statistics file and checks the members that engines require.
func (r *memberReader) statistics(section string) json.RawMessage {
	file := r.object(section)
	if r.err != nil {
		return nil
	}
	for _, name := range []string{"snapshot-id", "file-size-in-bytes"} {
		if _, ok := int64Of(memberOf(file, name)); !ok {
			r.bad(section + "." + name)
		}
	}
	if _, ok := stringOf(memberOf(file, "statistics-path")); !ok {
		r.bad(section + ".statistics-path")
	}
	if section == "statistics" {
		if _, ok := int64Of(memberOf(file, "file-footer-size-in-bytes")); !ok {
			r.bad(section + ".file-footer-size-in-bytes")
		}
		if !isArray(memberOf(file, "blob-metadata")) {
			r.bad(section + ".blob-metadata")
		}
	}
	return file
}
