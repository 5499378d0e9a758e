package catalog

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// DroppedStore takes tables out of the catalog without losing them: a table is always a row of its own or has a record
// of its drop. While a record is dropped, purging or unregistered, its location counts as taken if it holds it.
type DroppedStore interface {
	// DropTable turns a table into the record, whose State, HoldsLocation, DroppedBy, PurgeRequested and PurgeAfter are
	// given; the rest is the table as it is then. A protected table is Forbidden. The event gets the record's id and the table's
	// metadata location among its details. The record is given as it is written.
	DropTable(ctx context.Context, id string, drop models.DroppedTable, event models.AuditEvent) (models.DroppedTable, error)
	// ReplaceTable drops a table as DropTable does and makes another under its name, in one transaction. The new one
	// gets the grants of the old one.
	ReplaceTable(ctx context.Context, id string, drop models.DroppedTable, dropped models.AuditEvent, t models.Table, effects Effects) error
	DroppedTable(ctx context.Context, id string) (models.DroppedTable, error)
	DroppedTables(ctx context.Context, f models.DroppedFilter) ([]models.DroppedTable, error)
	// UndropTable makes a dropped record its table again, with the same id, in the namespace under the name. Conflict
	// when the record is not dropped any more, AlreadyExists when the name is taken.
	UndropTable(ctx context.Context, id, namespaceID, name string, event models.AuditEvent) error
	// ForgetTable frees the location of a dropped or unregistered record; Conflict in any other state.
	ForgetTable(ctx context.Context, id string, event models.AuditEvent) error
	// SetProtection stores Protected alone.
	SetProtection(ctx context.Context, tableID string, protected bool, event models.AuditEvent) error
}

// ProtectedTable is the refusal of whatever would take a protected table away.
func ProtectedTable(table string) error { return protectedTable(table) }

// Drops says what becomes of dropped tables.
type Drops struct {
	Grace    time.Duration // from a drop to the earliest purge
	PurgeAll bool          // purge every dropped table, not only those whose purge was asked for
}

// Existence tells whether files are there, without reading them.
type Existence interface {
	// HoldsFiles tells whether there is a file at the location or anywhere below it.
	HoldsFiles(ctx context.Context, location string) (bool, error)
	Exists(ctx context.Context, location string) (bool, error)
}
