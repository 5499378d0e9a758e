package reconcile

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// avroType is a compiled Avro schema. Fields carry the ids of the Iceberg specification.
type avroType struct {
	kind   string // null, boolean, int, long, float, double, bytes, string, fixed, enum, array, map, union, record
	size   int    // of fixed
	fields []avroField
	of     []*avroType // item of array and map; branches of union
}

type avroField struct {
	id   int // -1 unknown
	name string
	typ  *avroType
}

// avroCompiler compiles one schema. Names that a schema defines may be referred to further down.
type avroCompiler struct {
	named map[string]*avroType
	depth int
}

// maxDepth bounds how deep schemas and values nest; manifests need seven levels.
const maxDepth = 32

func (c *avroCompiler) compile(raw json.RawMessage, names map[string]int) (*avroType, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, fmt.Errorf("%w: the Avro schema nests too deep", errDecode)
	}
	defer func() { c.depth-- }()
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return c.primitive(name)
	}
	var branches []json.RawMessage
	if json.Unmarshal(raw, &branches) == nil {
		return c.list("union", branches, names)
	}
	var s struct {
		Type, Items, Values json.RawMessage
		Name                string
		Size                int
		Fields              []json.RawMessage
	}
	if err := unmarshalExact(raw, &s); err != nil {
		return nil, err
	}
	if json.Unmarshal(s.Type, &name) != nil {
		return c.compile(s.Type, names)
	}
	switch name {
	case "array":
		return c.list(name, []json.RawMessage{s.Items}, names)
	case "map":
		return c.list(name, []json.RawMessage{s.Values}, nil)
	case "record":
		return c.record(s.Name, s.Fields, names)
	case "fixed", "enum":
		t := &avroType{kind: name, size: s.Size}
		c.named[s.Name] = t
		return t, nil
	}
	return c.primitive(name)
}

func (c *avroCompiler) primitive(name string) (*avroType, error) {
	switch name {
	case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
		return &avroType{kind: name}, nil
	}
	if t, ok := c.named[name]; ok {
		return t, nil
	}
	return nil, fmt.Errorf("%w: the Avro schema has the unknown type %q", errDecode, name)
}

func (c *avroCompiler) list(kind string, parts []json.RawMessage, names map[string]int) (*avroType, error) {
	t := &avroType{kind: kind}
	for _, part := range parts {
		of, err := c.compile(part, names)
		if err != nil {
			return nil, err
		}
		t.of = append(t.of, of)
	}
	return t, nil
}

// unmarshalExact decodes an object of a schema whose keys cannot be mistaken. encoding/json takes keys in any case, other
// readers do not: a field would mean one thing to the verifier and another to the engines.
func unmarshalExact(raw json.RawMessage, into any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("%w: broken Avro schema: %w", errDecode, err)
	}
	for key := range members {
		for _, known := range [...]string{"type", "items", "values", "name", "size", "fields", "field-id"} {
			if key != known && strings.EqualFold(key, known) {
				return fmt.Errorf("%w: the Avro schema has the key %q, which looks like %s", errDecode, key, known)
			}
		}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: broken Avro schema: %w", errDecode, err)
	}
	return nil
}

type schemaField struct {
	Name string          `json:"name"`
	ID   *int            `json:"field-id"`
	Type json.RawMessage `json:"type"`
}

// record compiles a record whose fields have the names and ids of the specification. The two must agree: iceberg-go finds
// fields by name and Java engines by id, and a file that means one thing to the verifier and another to the engines must
// not pass. A field without an id is known by its name; fields of unknown name and id are skipped.
func (c *avroCompiler) record(name string, fields []json.RawMessage, names map[string]int) (*avroType, error) {
	t := &avroType{kind: "record"}
	c.named[name] = t
	known := make(map[int]bool, len(names))
	for _, id := range names {
		known[id] = true
	}
	seen := make(map[int]bool, len(fields))
	for _, raw := range fields {
		var f schemaField
		if err := unmarshalExact(raw, &f); err != nil {
			return nil, err
		}
		want, isNamed := names[f.Name]
		id := -1
		switch {
		case f.ID != nil && (isNamed && *f.ID != want || !isNamed && known[*f.ID]):
			return nil, fmt.Errorf("%w: field %s has the id %d of another field", errDecode, f.Name, *f.ID)
		case isNamed:
			id = want
		case f.ID != nil:
			id = *f.ID
		}
		if id >= 0 && seen[id] {
			return nil, fmt.Errorf("%w: two fields have the id %d", errDecode, id)
		}
		seen[id] = true
		typ, err := c.compile(f.Type, innerNames(names, f.Name))
		if err != nil {
			return nil, err
		}
		t.fields = append(t.fields, avroField{id, f.Name, typ})
	}
	return t, nil
}

// innerNames gives the names of the records within a known field.
func innerNames(outer map[string]int, field string) map[string]int {
	switch outer[field] {
	case 2:
		return dataFileNames()
	case 507:
		return map[string]int{"contains_null": 509, "contains_nan": 518, "lower_bound": 510, "upper_bound": 511}
	}
	return nil
}

// schemaCache keeps compiled schemas by their text: a writer puts the same one into each of its files.
type schemaCache struct {
	mu       sync.Mutex
	compiled map[string]*avroType
}

// mostSchemas bounds the cache, and longestSchema what goes into it, in bytes.
const (
	mostSchemas   = 512
	longestSchema = 64 << 10
)

// get compiles a schema of the kind, once.
func (s *schemaCache) get(kind string, schema []byte, names func() map[string]int) (*avroType, error) {
	key := kind + string(schema)
	s.mu.Lock()
	t, ok := s.compiled[key]
	s.mu.Unlock()
	if ok {
		return t, nil
	}
	c := avroCompiler{named: make(map[string]*avroType)}
	t, err := c.compile(schema, names())
	if err != nil {
		return nil, err
	}
	if t.kind != "record" {
		return nil, fmt.Errorf("%w: the Avro schema is no record", errDecode)
	}
	if len(schema) > longestSchema {
		return t, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled == nil || len(s.compiled) >= mostSchemas {
		s.compiled = make(map[string]*avroType)
	}
	s.compiled[key] = t
	return t, nil
}

func listNames() map[string]int {
	return map[string]int{
		"manifest_path": 500, "manifest_length": 501, "partition_spec_id": 502, "content": 517,
		"sequence_number": 515, "min_sequence_number": 516, "added_snapshot_id": 503,
		"added_files_count": 504, "existing_files_count": 505, "deleted_files_count": 506,
		"added_data_files_count": 504, "existing_data_files_count": 505, "deleted_data_files_count": 506,
		"added_rows_count": 512, "existing_rows_count": 513, "deleted_rows_count": 514,
		"partitions": 507, "key_metadata": 519, "first_row_id": 520,
	}
}

func entryNames() map[string]int {
	return map[string]int{
		"status": 0, "snapshot_id": 1, "data_file": 2, "sequence_number": 3, "file_sequence_number": 4,
	}
}

func dataFileNames() map[string]int {
	return map[string]int{
		"content": 134, "file_path": 100, "file_format": 101, "partition": 102, "record_count": 103,
		"file_size_in_bytes": 104, "block_size_in_bytes": 105, "column_sizes": 108, "value_counts": 109,
		"null_value_counts": 110, "nan_value_counts": 137, "distinct_counts": 111, "lower_bounds": 125,
		"upper_bounds": 128, "key_metadata": 131, "split_offsets": 132, "equality_ids": 135, "sort_order_id": 140,
		"first_row_id": 142, "referenced_data_file": 143, "content_offset": 144, "content_size_in_bytes": 145,
	}
}
