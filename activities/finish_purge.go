package activities

import (
	"context"

	"github.com/sluice-data/sluice/models"
)

// platformPrincipal is who the audit names for what Sluice does by itself.
const platformPrincipal = "sluice"

// FinishPurgeInput is what a purge deleted.
type FinishPurgeInput struct {
	Target     PurgeTarget `json:"target"`
	Files      int64       `json:"files"`
	Bytes      int64       `json:"bytes"`
	WorkflowID string      `json:"workflowId"`
}

// FinishPurgeResult tells whether this run made the record.
type FinishPurgeResult struct {
	Recorded bool `json:"recorded,omitempty"`
}

// FinishPurge closes a purge and writes its one audit event, in one transaction. It is idempotent by the record's state
// and the event's dedupe key purged/<drop-id>.
func (a *Activities) FinishPurge(ctx context.Context, in FinishPurgeInput) (FinishPurgeResult, error) {
	recorded, err := a.finishPurge(ctx, in)
	return FinishPurgeResult{Recorded: recorded}, toTemporal(ctx, err)
}

func (a *Activities) finishPurge(ctx context.Context, in FinishPurgeInput) (bool, error) {
	record, err := a.ports.Purges.DroppedTable(ctx, in.Target.DropID)
	if err != nil {
		return false, err
	}
	catalog, err := a.catalogName(ctx, record.CatalogID)
	if err != nil {
		return false, err
	}
	key := "purged/" + record.ID
	event := models.AuditEvent{
		EventID: a.ports.NewID(), Type: models.AuditTablePurged, At: a.ports.Now().UTC(), Principal: platformPrincipal, Allowed: true,
		Catalog: catalog, Namespace: record.NamespaceKey.String(), Table: record.Ident().String(), TableUUID: record.TableUUID,
		DedupeKey: &key,
	}
	event.Details.V = map[string]any{
		"dropId": record.ID, "location": record.Location, "droppedBy": record.DroppedBy,
		"files": in.Files, "bytes": in.Bytes, "workflowId": in.WorkflowID,
	}
	return a.ports.Purges.FinishPurge(ctx, record.ID, in.Files, in.Bytes, event)
}
