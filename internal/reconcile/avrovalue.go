package reconcile

import (
	"encoding/binary"
	"math"
)

// resolve reads the branch of a union; any other type is itself. Depth is bounded by skip.
func (r *avroReader) resolve(t *avroType) *avroType {
	if t.kind != "union" {
		return t
	}
	branch := r.long()
	if branch < 0 || branch >= int64(len(t.of)) || t.of[branch].kind == "union" {
		r.fail()
		return &avroType{kind: "null"}
	}
	return t.of[branch]
}

// integer reads an int or long; absent for null.
func (r *avroReader) integer(t *avroType, absent int64) int64 {
	switch t = r.resolve(t); t.kind {
	case "null":
		return absent
	case "int", "long":
		return r.long()
	}
	r.fail()
	return absent
}

// Values that should not be negative, as natural gives them: readers take null for unknown, and a negative number for
// what it says, such as no files.
const (
	unknown  = -1
	negative = -2
)

// natural is integer for what cannot be negative: unknown for null, negative for any negative number.
func (r *avroReader) natural(t *avroType) int64 {
	if t = r.resolve(t); t.kind == "null" {
		return unknown
	}
	if n := r.integer(t, unknown); n >= 0 {
		return n
	}
	return negative
}

// snapshot is integer for the id of a snapshot: absent for null, and nothing that is stated is taken for unknown. Old
// engines made negative ids.
func (r *avroReader) snapshot(t *avroType, absent int64) int64 {
	if t = r.resolve(t); t.kind == "null" {
		return absent
	}
	if id := r.integer(t, absent); id != unknown {
		return id
	}
	return negative
}

// small is integer for what must fit 32 bits.
func (r *avroReader) small(t *avroType, absent int64) int64 {
	n := r.integer(t, absent)
	if n != int64(int32(n)) {
		r.fail()
	}
	return n
}

// text reads bytes or a string; nil for null.
func (r *avroReader) text(t *avroType) []byte {
	switch t = r.resolve(t); t.kind {
	case "null":
		return nil
	case "bytes", "string":
		if b := r.bytes(); b != nil {
			return b
		}
		return []byte{}
	case "fixed":
		return r.take(t.size)
	}
	r.fail()
	return nil
}

// float reads a float or double.
func (r *avroReader) float(t *avroType) float64 {
	switch t.kind {
	case "float":
		if b := r.take(4); len(b) == 4 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	case "double":
		if b := r.take(8); len(b) == 8 {
			return math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
	r.fail()
	return 0
}

// boolean reads a boolean; nil for null.
func (r *avroReader) boolean(t *avroType) *bool {
	switch t = r.resolve(t); t.kind {
	case "null":
		return nil
	case "boolean":
		b := r.take(1)
		v := len(b) == 1 && b[0] != 0
		return &v
	}
	r.fail()
	return nil
}

// record calls field for each field in order, which must read or skip it.
func (r *avroReader) record(t *avroType, field func(f avroField)) {
	if t = r.resolve(t); t.kind != "record" {
		r.fail()
		return
	}
	for _, f := range t.fields {
		if r.spent() {
			return
		}
		field(f)
	}
}

func (r *avroReader) spent() bool {
	if r.steps--; r.steps < 0 {
		r.fail()
	}
	return r.bad
}

// skip reads over a value of any type.
func (r *avroReader) skip(t *avroType) { r.skipWithin(t, 0) }

func (r *avroReader) skipWithin(t *avroType, depth int) {
	if r.spent() || depth > maxDepth {
		r.fail()
		return
	}
	switch t = r.resolve(t); t.kind {
	case "boolean":
		r.drop(1)
	case "int", "long", "enum":
		r.long()
	case "float":
		r.drop(4)
	case "double":
		r.drop(8)
	case "bytes", "string":
		r.drop(r.long())
	case "fixed":
		r.drop(int64(t.size))
	case "array":
		r.items(func() { r.skipWithin(t.of[0], depth+1) })
	case "map":
		r.items(func() {
			r.drop(r.long())
			r.skipWithin(t.of[0], depth+1)
		})
	case "record":
		for _, f := range t.fields {
			r.skipWithin(f.typ, depth+1)
		}
	}
}
