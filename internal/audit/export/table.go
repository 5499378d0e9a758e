package export

import (
	"encoding/json"
	"strconv"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Where the exported table is.
const (
	Namespace = "sluice_system"
	TableName = "audit"
)

// The members of a snapshot's summary that say which events it added.
const (
	firstSeqKey = "sluice.audit.first-seq"
	lastSeqKey  = "sluice.audit.last-seq"
)

func ident() models.TableIdent {
	return models.TableIdent{Namespace: []string{Namespace}, Name: TableName}
}

// column is one of the exported table.
type column struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
	Doc      string `json:"doc,omitempty"`
}

// columns are those of the exported table, in order. rows.go fills them.
func columns() []column {
	list := []column{
		{Name: "seq", Type: "long", Required: true, Doc: "place in the chain"},
		{Name: "event_id", Type: "string", Required: true},
		{Name: "type", Type: "string", Required: true},
		{Name: "at", Type: "timestamptz", Required: true},
		{Name: "principal", Type: "string"},
		{Name: "token_id", Type: "string"},
		{Name: "catalog", Type: "string"},
		{Name: "namespace", Type: "string"},
		{Name: "table", Type: "string"},
		{Name: "table_uuid", Type: "string"},
		{Name: "snapshot_id", Type: "long"},
		{Name: "allowed", Type: "boolean", Required: true},
		{Name: "reason", Type: "string"},
		{Name: "request_id", Type: "string"},
		{Name: "address", Type: "string"},
		{Name: "details", Type: "string", Required: true, Doc: "JSON"},
		{Name: "prev_hash", Type: "string", Required: true},
		{Name: "hash", Type: "string", Required: true},
	}
	for i := range list {
		list[i].ID = i + 1
	}
	return list
}

// definition gives schema, partition spec and sort order as a create request has them.
func definition() (schema, spec, order json.RawMessage, err error) {
	if schema, err = json.Marshal(map[string]any{"type": "struct", "schema-id": 0, "fields": columns()}); err != nil {
		return nil, nil, nil, err
	}
	if spec, err = json.Marshal(map[string]any{"spec-id": 0, "fields": []any{
		map[string]any{"source-id": atField, "field-id": 1000, "name": "at_day", "transform": "day"},
	}}); err != nil {
		return nil, nil, nil, err
	}
	order, err = json.Marshal(map[string]any{"order-id": 1, "fields": []any{
		map[string]any{"source-id": seqField, "transform": "identity", "direction": "asc", "null-order": "nulls-first"},
	}})
	return schema, spec, order, err
}

// field is one of a sort order.
type field struct {
	Source    int    `json:"source-id"`
	Transform string `json:"transform"`
	Direction string `json:"direction"`
}

// bySeq tells whether the table's order is that of the audit.
func bySeq(doc *metadata.Document) bool {
	var current struct {
		Order int `json:"default-sort-order-id"`
	}
	var orders []struct {
		ID     int     `json:"order-id"`
		Fields []field `json:"fields"`
	}
	raw, _ := doc.Section("sort-orders")
	if json.Unmarshal(doc.RefsOnlyBytes(), &current) != nil || json.Unmarshal(raw, &orders) != nil {
		return false
	}
	for _, o := range orders {
		if o.ID == current.Order && len(o.Fields) == 1 {
			f := o.Fields[0]
			return f.Source == seqField && f.Transform == "identity" && f.Direction == "asc"
		}
	}
	return false
}

// seqField is the column that the table is sorted by.
const seqField = 1

// atField is the column that the table is partitioned by.
const atField = 4

// platform is who exports: the audit names it, and it may do in its catalog what the export takes.
func platform(cat models.Catalog) policy.Caller {
	var grants []policy.Grant
	for _, p := range []models.Privilege{models.CatalogManageContent, models.CatalogManageAccess, models.TableGovern} {
		grants = append(grants, policy.Grant{Privilege: p, ObjectID: cat.ID})
	}
	return policy.Caller{Principal: platformPrincipal, CanGovern: true, CatalogID: cat.ID, Held: policy.NewHeld(nil, grants)}
}

const platformPrincipal = "sluice"

// exportedBy gives the last event that the table has: the newest snapshot that says so, from the head backwards. known is
// false when none does.
func exportedBy(doc *metadata.Document) (seq int64, known bool) {
	head, ok := doc.CurrentSnapshotID()
	for range doc.SnapshotCount() {
		if !ok {
			return 0, false
		}
		snapshot, there := doc.Snapshot(head)
		if !there {
			return 0, false
		}
		if n, err := strconv.ParseInt(snapshot.Summary[lastSeqKey], 10, 64); err == nil {
			return n, true
		}
		if ok = snapshot.ParentID != nil; ok {
			head = *snapshot.ParentID
		}
	}
	return 0, false
}
