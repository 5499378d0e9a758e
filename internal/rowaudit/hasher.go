package rowaudit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/fault"
)

// HashSize is the length of an identity hash, in bytes.
const HashSize = 16

// Hasher makes the identity hashes of rows. It is safe for concurrent use.
type Hasher struct {
	key     []byte
	columns []string
	types   []arrow.DataType
}

// NewHasher makes a Hasher of the columns, nested ones with dots, of a schema. fault.Invalid when there is none of a name, or
// none at all.
func NewHasher(key []byte, columns []string, schema *arrow.Schema) (*Hasher, error) {
	if len(columns) == 0 {
		return nil, fault.New(fault.Invalid, "The table has no columns that rows could be told apart by: set its identity columns.")
	}
	h := &Hasher{key: key, columns: columns}
	for _, name := range columns {
		field, ok := fieldOf(schema.Fields(), name)
		if !ok {
			return nil, fault.New(fault.Invalid, "The table has no column %s that rows could be told apart by: set its identity columns anew.", name)
		}
		h.types = append(h.types, field.Type)
	}
	return h, nil
}

// Columns are the names that the hashes are of, in order.
func (h *Hasher) Columns() []string { return h.columns }

// fieldOf finds a column by its name, or by names joined by dots. A name that has a dot itself comes first.
func fieldOf(fields []arrow.Field, name string) (arrow.Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	for _, f := range fields {
		rest, ok := strings.CutPrefix(name, f.Name+".")
		if nested, is := f.Type.(*arrow.StructType); ok && is {
			if found, ok := fieldOf(nested.Fields(), rest); ok {
				return found, true
			}
		}
	}
	return arrow.Field{}, false
}

// Hash gives the identity hash of every row. fault.Invalid when the batch lacks a column, fault.Unsupported for one of a type
// that cannot be hashed.
func (h *Hasher) Hash(batch arrow.RecordBatch) ([][HashSize]byte, error) {
	encoders := make([]encoder, len(h.columns))
	for i, name := range h.columns {
		path, ok := arraysOf(batch.Schema().Fields(), batch.Columns(), name)
		if !ok {
			return nil, fault.New(fault.Invalid, "The rows have no column %s, which they are told apart by.", name)
		}
		var err error
		if encoders[i], err = encoderOfPath(path); err != nil {
			return nil, err
		}
	}
	out := make([][HashSize]byte, batch.NumRows())
	sum := newSummer(h.key)
	var text []byte
	for row := range out {
		text = text[:0]
		for _, encode := range encoders {
			text = encode(text, row)
		}
		out[row] = sum.of(text)
	}
	return out, nil
}

// arraysOf finds a column as fieldOf does, and gives it behind the structs that it lies in: where one is null, so is it.
func arraysOf(fields []arrow.Field, columns []arrow.Array, name string) ([]arrow.Array, bool) {
	for i, f := range fields {
		if f.Name == name {
			return []arrow.Array{columns[i]}, true
		}
	}
	for i, f := range fields {
		rest, ok := strings.CutPrefix(name, f.Name+".")
		nested, is := columns[i].(*array.Struct)
		if !ok || !is {
			continue
		}
		children := make([]arrow.Array, nested.NumField())
		for n := range children {
			children[n] = nested.Field(n)
		}
		if path, ok := arraysOf(nested.DataType().(*arrow.StructType).Fields(), children, rest); ok {
			return append([]arrow.Array{nested}, path...), true
		}
	}
	return nil, false
}

func encoderOfPath(path []arrow.Array) (encoder, error) {
	last := len(path) - 1
	encode, err := encoderOf(path[last])
	if err != nil || last == 0 {
		return encode, err
	}
	within := path[:last]
	return func(to []byte, row int) []byte {
		for _, parent := range within {
			if parent.IsNull(row) {
				return append(to, kindNull)
			}
		}
		return encode(to, row)
	}, nil
}

// summer makes hashes of texts with one key.
type summer struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

func newSummer(key []byte) *summer { return &summer{mac: hmac.New(sha256.New, key)} }

func (s *summer) of(text []byte) (out [HashSize]byte) {
	s.mac.Reset()
	_, _ = s.mac.Write(text) // a hash does not fail
	copy(out[:], s.mac.Sum(s.sum[:0]))
	return out
}

// appendBytes appends a kind and bytes with their length before them.
func appendBytes[T string | []byte](to []byte, kind byte, value T) []byte {
	to = binary.BigEndian.AppendUint32(append(to, kind), uint32(len(value)))
	return append(to, value...)
}
