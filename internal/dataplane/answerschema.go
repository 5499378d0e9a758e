package dataplane

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/sluice-data/sluice/internal/columnar"
)

// answerSchema says of which columns an answer is, as Iceberg writes schemas.
type answerSchema struct {
	Type   string        `json:"type"`
	ID     int           `json:"schema-id"`
	Fields []answerField `json:"fields"`
}

// answerField is a column of an answer. Of a masked one the type is that of what is shown.
type answerField struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Type     any    `json:"type"`
	Mask     string `json:"mask,omitempty"`
}

func schemaOf(l *lens, s *arrow.Schema) answerSchema {
	out := answerSchema{Type: "struct", ID: l.at.schema.ID, Fields: []answerField{}}
	for _, f := range s.Fields() {
		out.Fields = append(out.Fields, fieldOf(l, f, f.Name))
	}
	return out
}

func fieldOf(l *lens, f arrow.Field, path string) answerField {
	id, _ := columnar.FieldID(f)
	out := answerField{ID: id, Name: f.Name, Required: !f.Nullable, Type: typeOf(l, f.Type, path)}
	if m, ok := l.masks[path]; ok {
		out.Mask = m.Kind
	}
	return out
}

// typeOf gives a type as Iceberg writes it.
func typeOf(l *lens, t arrow.DataType, path string) any {
	switch t := t.(type) {
	case *arrow.StructType:
		fields := []answerField{}
		for _, f := range t.Fields() {
			fields = append(fields, fieldOf(l, f, path+"."+f.Name))
		}
		return map[string]any{"type": "struct", "fields": fields}
	case *arrow.MapType:
		key, _ := columnar.FieldID(t.KeyField())
		value, _ := columnar.FieldID(t.ItemField())
		return map[string]any{
			"type": "map", "key-id": key, "key": typeOf(l, t.KeyType(), path+".key"),
			"value-id": value, "value": typeOf(l, t.ItemType(), path+".value"), "value-required": !t.ItemField().Nullable,
		}
	case *arrow.ListType:
		id, _ := columnar.FieldID(t.ElemField())
		return map[string]any{
			"type": "list", "element-id": id, "element": typeOf(l, t.Elem(), path+".element"), "element-required": !t.ElemField().Nullable,
		}
	}
	return primitiveName(t)
}

func primitiveName(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return "boolean"
	case *arrow.Int32Type:
		return "int"
	case *arrow.Int64Type:
		return "long"
	case *arrow.Float32Type:
		return "float"
	case *arrow.Float64Type:
		return "double"
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d, %d)", t.Precision, t.Scale)
	case *arrow.Date32Type:
		return "date"
	case *arrow.Time64Type:
		return "time"
	case *arrow.TimestampType:
		return timestampName(t)
	case *arrow.StringType:
		return "string"
	case *extensions.UUIDType:
		return "uuid"
	case *arrow.FixedSizeBinaryType:
		return "fixed[" + strconv.Itoa(t.ByteWidth) + "]"
	case *arrow.BinaryType:
		return "binary"
	}
	return t.Name()
}

func timestampName(t *arrow.TimestampType) string {
	name := "timestamp"
	if t.TimeZone != "" {
		name = "timestamptz"
	}
	if t.Unit == arrow.Nanosecond {
		name += "_ns"
	}
	return name
}
