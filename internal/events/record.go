package events

import (
	"strconv"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Record is an audit event as everybody outside gets it. Members are added and never renamed.
type Record struct {
	ID         string           `json:"id"`
	EventID    string           `json:"eventId"`
	Type       models.AuditType `json:"type"`
	At         time.Time        `json:"at"`
	Principal  string           `json:"principal"`
	TokenID    string           `json:"tokenId,omitempty"`
	Ref        string           `json:"ref,omitempty"` // of the table, view, namespace or catalog it is about
	Catalog    string           `json:"catalog,omitempty"`
	Namespace  string           `json:"namespace,omitempty"`
	Table      string           `json:"table,omitempty"`
	TableUUID  string           `json:"tableUuid,omitempty"`
	SnapshotID *string          `json:"snapshotId,omitempty"`
	Allowed    bool             `json:"allowed"`
	Reason     string           `json:"reason,omitempty"`
	RequestID  string           `json:"requestId,omitempty"`
	Address    string           `json:"address,omitempty"`
	Details    map[string]any   `json:"details"`
}

// RecordOf writes an event.
func RecordOf(e models.AuditEvent) Record {
	out := Record{
		ID: strconv.FormatInt(e.ID, 10), EventID: e.EventID, Type: e.Type, At: e.At.UTC(), Principal: e.Principal,
		TokenID: e.TokenID, Ref: Ref(e.Catalog, e.Namespace, e.Table), Catalog: e.Catalog, Namespace: e.Namespace, Table: e.Table, TableUUID: e.TableUUID,
		Allowed: e.Allowed, Reason: e.Reason, RequestID: e.RequestID, Address: e.Address, Details: e.Details.V,
	}
	if e.SnapshotID != nil {
		id := strconv.FormatInt(*e.SnapshotID, 10)
		out.SnapshotID = &id
	}
	if out.Details == nil {
		out.Details = map[string]any{}
	}
	return out
}

// Ref names what an event is about as commands and routes take it: the most particular of the names. table has its
// namespace in it.
func Ref(catalog, namespace, table string) string {
	switch {
	case catalog == "":
		return ""
	case table != "":
		return catalog + "." + table
	case namespace != "":
		return catalog + "." + namespace
	}
	return catalog
}
