package scan

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// resolve settles which snapshot and schema a request means. Errors are fault.Invalid.
func resolve(doc *metadata.Document, req Request) (pinned, error) {
	pin := pinned{
		Table: doc.UUID(), Filter: req.Filter, IgnoreCase: req.IgnoreCase, Stats: req.StatsFields, MinRows: req.MinRows,
	}
	if req.MinRows < 0 {
		return pin, fault.New(fault.Invalid, "The field min-rows-requested must not be negative.")
	}
	incremental := req.StartSnapshotID != nil || req.EndSnapshotID != nil
	switch {
	case incremental && req.SnapshotID != nil:
		return pin, fault.New(fault.Invalid, "Give either snapshot-id or start-snapshot-id and end-snapshot-id, not both.")
	case incremental && (req.StartSnapshotID == nil || req.EndSnapshotID == nil):
		return pin, fault.New(fault.Invalid, "An incremental scan needs both start-snapshot-id and end-snapshot-id.")
	case incremental:
		pin.Start, pin.Snapshot = req.StartSnapshotID, req.EndSnapshotID
	case req.SnapshotID != nil:
		pin.Snapshot = req.SnapshotID
	default:
		if head, ok := doc.CurrentSnapshotID(); ok {
			pin.Snapshot = &head
		}
	}
	if err := checkSnapshots(doc, pin); err != nil {
		return pin, err
	}
	schema, err := schemaFor(doc, pin, req.UseSnapshotSchema)
	pin.Schema = schema.ID
	return pin, err
}

func checkSnapshots(doc *metadata.Document, pin pinned) error {
	for _, id := range []*int64{pin.Start, pin.Snapshot} {
		if id == nil {
			continue
		}
		if _, ok := doc.Snapshot(*id); !ok {
			return fault.New(fault.Invalid, "Snapshot %d does not exist in the table. It may have expired: plan with one that the table has.", *id)
		}
	}
	if pin.Start != nil && !doc.IsAncestor(*pin.Start, *pin.Snapshot) {
		return fault.New(fault.Invalid, "Snapshot %d is not an ancestor of snapshot %d. Start an incremental scan from an ancestor of its end.", *pin.Start, *pin.Snapshot)
	}
	return nil
}

func schemaFor(doc *metadata.Document, pin pinned, ofSnapshot bool) (metadata.Schema, error) {
	if ofSnapshot && pin.Snapshot != nil {
		snapshot, _ := doc.Snapshot(*pin.Snapshot)
		if snapshot.SchemaID != nil {
			if schema, ok, err := doc.Schema(*snapshot.SchemaID); ok || err != nil {
				return schema, err
			}
		}
	}
	return doc.CurrentSchema()
}

// catalogue is what a document says of columns and specs, looked up when first needed. It is safe for concurrent use.
type catalogue struct {
	doc     *metadata.Document
	columns expression.Columns
	others  []expression.Columns // of the other schemas, once asked for
	looked  bool

	mu    sync.Mutex
	specs map[int]spec
}

func newCatalogue(doc *metadata.Document, schema metadata.Schema) *catalogue {
	return &catalogue{doc: doc, columns: expression.NewColumns(schema), specs: make(map[int]spec)}
}

// typeOf gives a column's type from the scan's schema, or from another one when the column was dropped.
func (c *catalogue) typeOf(id int) expression.Type {
	if col, ok := c.columns.ByID(id); ok {
		return col.Type
	}
	if !c.looked {
		c.looked = true
		c.others = otherColumns(c.doc)
	}
	for _, cols := range slices.Backward(c.others) {
		if col, ok := cols.ByID(id); ok {
			return col.Type
		}
	}
	return expression.Type{}
}

func otherColumns(doc *metadata.Document) []expression.Columns {
	raw, _ := doc.Section("schemas")
	var ids []struct {
		ID int `json:"schema-id"`
	}
	if json.Unmarshal(raw, &ids) != nil {
		return nil
	}
	var out []expression.Columns
	for _, s := range ids {
		if schema, ok, err := doc.Schema(s.ID); ok && err == nil {
			out = append(out, expression.NewColumns(schema))
		}
	}
	return out
}

// spec gives a partition spec. One that the metadata does not have is the fault of whoever committed it: an engine can remove a
// spec that manifests still use.
func (c *catalogue) spec(id int) (spec, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.specs[id]; ok {
		return s, nil
	}
	raw, ok := c.doc.PartitionSpecRaw(id)
	if !ok {
		return spec{}, fault.New(fault.Invalid, "The table has a manifest of partition spec %d, which its metadata does not have, so that it cannot be planned. Add the spec again, or roll the table back to a snapshot without the manifest.", id)
	}
	s, err := parseSpec(id, raw, c.typeOf)
	if err != nil {
		return spec{}, fault.Wrap(err, fault.Internal, "The table's partition spec %d cannot be read.", id)
	}
	c.specs[id] = s
	return s, nil
}
