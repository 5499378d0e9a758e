package masking

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
)

// Masker masks the columns of record batches of one schema. It is safe for use by several goroutines.
type Masker struct {
	from, to *arrow.Schema
	columns  []transform // nil where a column stays as it is
}

// transform gives what is shown of a column. The answer is the caller's to release.
type transform func(arrow.Array) (arrow.Array, error)

// New makes what masks batches of a schema, by the dotted names of columns; names that the schema does not have are left
// alone. key is the secret that hashes are made with, of 32 bytes at least where there are masks.
func New(key []byte, schema *arrow.Schema, masks map[string]policy.Mask) (*Masker, error) {
	if len(masks) > 0 && len(key) < 32 {
		return nil, fault.New(fault.Internal, "the key of masks has %d bytes", len(key))
	}
	m := &Masker{from: schema, columns: make([]transform, schema.NumFields())}
	b := builder{key: key, masks: masks}
	fields := make([]arrow.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		fields[i], m.columns[i] = b.field(f, f.Name)
	}
	metadata := schema.Metadata()
	m.to = arrow.NewSchema(fields, &metadata)
	return m, nil
}

// Schema is that of masked batches: masked columns are nullable, and strings where they are hashed.
func (m *Masker) Schema() *arrow.Schema { return m.to }

// Apply masks a batch, which stays as it is and stays the caller's. So is the answer, to release.
func (m *Masker) Apply(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	if int(batch.NumCols()) != len(m.columns) {
		return nil, fault.New(fault.Internal, "a batch has %d columns, its masks are for %d", batch.NumCols(), len(m.columns))
	}
	columns := make([]arrow.Array, 0, len(m.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, mask := range m.columns {
		column := batch.Column(i)
		if want := m.from.Field(i).Type; !arrow.TypeEqual(column.DataType(), want) {
			return nil, fault.New(fault.Internal, "column %d of a batch is %s, its mask is for %s", i, column.DataType(), want)
		}
		if mask == nil {
			column.Retain()
			columns = append(columns, column)
			continue
		}
		masked, err := mask(column)
		if err != nil {
			return nil, err
		}
		columns = append(columns, masked)
	}
	return array.NewRecordBatch(m.to, columns, batch.NumRows()), nil
}

// builder makes the transforms of the columns of a schema.
type builder struct {
	key   []byte
	masks map[string]policy.Mask
}

// field gives a column as it is shown, and its transform; nil where it stays as it is.
func (b builder) field(f arrow.Field, path string) (arrow.Field, transform) {
	mask, masked := b.masks[path]
	switch {
	case !masked && f.Type.ID() == arrow.STRUCT:
		return b.structField(f, path)
	case !masked && arrow.IsNested(f.Type.ID()) && b.within(path):
		mask = policy.Mask{Kind: policy.MaskNull} // what is in a list or a map is not masked alone
	case !masked:
		return f, nil
	}
	f.Nullable = true
	apply, to := b.maskOf(mask, f.Type, path)
	f.Type = to
	return f, apply
}

// within tells whether a mask names something in a column.
func (b builder) within(path string) bool {
	for name := range b.masks {
		if strings.HasPrefix(name, path+".") {
			return true
		}
	}
	return false
}

// maskOf gives what a mask does to a type, and the type of what comes out.
func (b builder) maskOf(mask policy.Mask, t arrow.DataType, path string) (transform, arrow.DataType) {
	text := t.ID() == arrow.STRING
	switch mask.Kind {
	case policy.MaskRedact:
		if text {
			return redacted, t
		}
	case policy.MaskPartial:
		if text && mask.Tag == policy.TagEmail {
			return eachText(partialEmail), t
		} else if text {
			return eachText(partialText), t
		}
	case policy.MaskTruncate:
		if text && mask.Tag == policy.TagIP {
			return eachText(network), t
		} else if apply := truncated(t); apply != nil {
			return apply, t
		}
	case policy.MaskHash:
		if canonical := canonicalText(t); canonical != nil {
			name := mask.Tag
			if name == "" {
				name = path
			}
			return hasher{key: b.key, prefix: append([]byte(name), 0), canonical: canonical}.apply, arrow.BinaryTypes.String
		}
	}
	return func(in arrow.Array) (arrow.Array, error) {
		return array.MakeArrayOfNull(memory.DefaultAllocator, t, in.Len()), nil
	}, t
}
