package scan

import (
	"encoding/json"
	"slices"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/expression"
)

// spec is a partition spec.
type spec struct {
	id     int
	fields []expression.Field
}

// partitioned tells whether any field has values.
func (s spec) partitioned() bool {
	return slices.ContainsFunc(s.fields, func(f expression.Field) bool { return !f.IsVoid() })
}

// specJSON is a partition spec as metadata has it.
type specJSON struct {
	Fields []struct {
		SourceID  int    `json:"source-id"`
		SourceIDs []int  `json:"source-ids"`
		FieldID   *int   `json:"field-id"`
		Transform string `json:"transform"`
	} `json:"fields"`
}

// parseSpec reads a spec; typeOfSource gives the type of a source column, whichever schema has it.
func parseSpec(id int, raw json.RawMessage, typeOfSource func(id int) expression.Type) (spec, error) {
	var doc specJSON
	if err := json.Unmarshal(raw, &doc); err != nil {
		return spec{}, err
	}
	const firstID = 1000 // of fields that old writers gave no id
	out := spec{id: id}
	for i, f := range doc.Fields {
		field, source := firstID+i, f.SourceID
		if f.FieldID != nil {
			field = *f.FieldID
		}
		if len(f.SourceIDs) == 1 {
			source = f.SourceIDs[0]
		}
		transform, err := iceberg.ParseTransform(f.Transform)
		if err != nil || len(f.SourceIDs) > 1 {
			transform = iceberg.UnknownTransform{}
		}
		out.fields = append(out.fields, expression.NewField(field, source, transform, typeOfSource(source)))
	}
	return out, nil
}
