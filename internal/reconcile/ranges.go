package reconcile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// ranges is what a manifest list says of the partitions in a manifest. Readers skip the manifest when their filter does
// not meet it, so a range that leaves a file out hides that file.
type ranges struct {
	fields    []iceberg.NestedField
	summaries []iceberg.FieldSummary
	broken    string
}

// newRanges takes the partition types from the manifest's own header. A list without ranges hides nothing.
func newRanges(raw []byte, m *manifest) (r ranges, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decoder panic: %v", errDecode, p)
		}
	}()
	r.summaries = m.partitions
	if len(r.summaries) == 0 {
		return r, nil
	}
	reader, err := iceberg.NewManifestReader(m.file(), bytes.NewReader(raw))
	if err != nil {
		return r, err
	}
	defer reader.Close() //nolint:errcheck // it reads memory
	spec, err := reader.PartitionSpec()
	if err != nil {
		return r, fmt.Errorf("%w: %w", errDecode, err)
	}
	schema, err := headerSchema(raw)
	if err != nil {
		return r, err
	}
	if r.fields = spec.PartitionType(schema).FieldList; len(r.fields) != len(r.summaries) {
		r.broken = "its files, being of another partition spec"
	}
	return r, nil
}

// headerSchema reads the table schema in a manifest's header. iceberg-go's own reading asks for the schema's id beside
// it, which PyIceberg does not write.
func headerSchema(raw []byte) (*iceberg.Schema, error) {
	c, err := openContainer(raw)
	if err != nil {
		return nil, err
	}
	schema := &iceberg.Schema{}
	if err := json.Unmarshal(c.meta["schema"], schema); err != nil {
		return nil, fmt.Errorf("%w: %w", errDecode, err)
	}
	return schema, nil
}

// excludes gives the file's path when the ranges leave it out or cannot be compared with it, "" when they cover it.
func (r *ranges) excludes(f iceberg.DataFile) string {
	if len(r.summaries) == 0 {
		return ""
	}
	if r.broken != "" {
		return r.broken
	}
	partition := f.Partition()
	for n, field := range r.fields {
		if !covers(r.summaries[n], field.Type, partition[field.ID]) {
			return f.FilePath()
		}
	}
	return ""
}

func covers(s iceberg.FieldSummary, typ iceberg.Type, value any) bool {
	if value == nil {
		return s.ContainsNull
	}
	v, ok := scalarOf(value)
	if !ok {
		return false
	}
	if math.IsNaN(v.float) {
		return valueOr(s.ContainsNaN, true)
	}
	lower, okLower := boundOf(typ, s.LowerBound)
	upper, okUpper := boundOf(typ, s.UpperBound)
	return okLower && okUpper && v.between(lower, upper)
}

func boundOf(typ iceberg.Type, raw *[]byte) (scalar, bool) {
	if raw == nil {
		return scalar{}, false
	}
	literal, err := iceberg.LiteralFromBytes(typ, *raw)
	if err != nil {
		return scalar{}, false
	}
	return scalarOf(literal.Any())
}

// scalar is a partition value in one of four kinds.
type scalar struct {
	kind    byte // i integer and time, f float, b bytes and text, u UUID
	integer *big.Int
	float   float64
	bytes   []byte
}

func scalarOf(value any) (scalar, bool) {
	switch v := value.(type) {
	case uuid.UUID:
		return scalar{kind: 'u', bytes: v[:]}, true
	case iceberg.Decimal:
		return scalar{kind: 'i', integer: v.Val.BigInt()}, true
	case iceberg.DecimalLiteral:
		return scalar{kind: 'i', integer: v.Val.BigInt()}, true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return scalar{kind: 'i', integer: big.NewInt(1)}, true
		}
		return scalar{kind: 'i', integer: new(big.Int)}, true
	case reflect.Int32, reflect.Int64, reflect.Int:
		return scalar{kind: 'i', integer: big.NewInt(v.Int())}, true
	case reflect.Float32, reflect.Float64:
		return scalar{kind: 'f', float: v.Float()}, true
	case reflect.String:
		return scalar{kind: 'b', bytes: []byte(v.String())}, true
	case reflect.Slice, reflect.Array:
		return bytesOf(v)
	}
	return scalar{}, false
}

func bytesOf(v reflect.Value) (scalar, bool) {
	if v.Type().Elem().Kind() != reflect.Uint8 {
		return scalar{}, false
	}
	out := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(out), v)
	return scalar{kind: 'b', bytes: out}, true
}

// between compares within one kind. UUIDs have two orders in the world, by unsigned and by signed halves: either will do.
func (s scalar) between(lower, upper scalar) bool {
	if s.kind != lower.kind || s.kind != upper.kind {
		return false
	}
	switch s.kind {
	case 'i':
		return lower.integer.Cmp(s.integer) <= 0 && s.integer.Cmp(upper.integer) <= 0
	case 'f':
		return cmp.Compare(lower.float, s.float) <= 0 && cmp.Compare(s.float, upper.float) <= 0
	case 'u':
		signed := func(b []byte) []byte {
			out := bytes.Clone(b)
			out[0] ^= 0x80
			return out
		}
		return inOrder(lower.bytes, s.bytes, upper.bytes) || inOrder(signed(lower.bytes), signed(s.bytes), signed(upper.bytes))
	}
	return inOrder(lower.bytes, s.bytes, upper.bytes)
}

func inOrder(a, b, c []byte) bool { return bytes.Compare(a, b) <= 0 && bytes.Compare(b, c) <= 0 }
