package metadata

import "github.com/sluice-data/sluice/internal/fault"

// Limits on what one commit may ask for. They are far above what engines send and far below what would keep a server
// busy for whoever wants it busy.
const (
	// maxUpdates bounds a commit's updates: older Java clients expire snapshots with one update for each.
	maxUpdates = 10_000
	// maxLayoutUpdates bounds those that add or choose schemas, specs and sort orders: engines send a handful.
	maxLayoutUpdates = 1_000
	// maxFields bounds a new schema's fields, nested ones included.
	maxFields = 10_000
	// maxNesting bounds how deep types nest, in any schema.
	maxNesting = 64
	// maxPathBytes bounds a field's full name, in any schema: every field below it repeats it.
	maxPathBytes = 8 << 10
	// schemaBudget bounds the bytes of schemas that a commit has read and compared, each byte counted once for every
	// level that it nests.
	schemaBudget = 64 << 20
	// idGap is how far beyond the next free one a new field, partition field or sequence number may be. Engines
	// count on without gaps; an id near the end of its range would be the table's last.
	idGap = 1_000
	// maxAddedRows bounds the rows of one snapshot, so that no snapshot can use up the row ids.
	maxAddedRows = int64(1) << 48
	// maxKeys bounds the members of one JSON object.
	maxKeys = 1_000_000
	// maxElements bounds the snapshots, schemas, specs and sort orders of one document.
	maxElements = 1_000_000
)

// checkCount bounds the updates of a commit before they are decoded.
func checkCount(n int) error {
	if n > maxUpdates {
		return fault.New(fault.TooLarge, "A commit has at most %d updates, not %d. Split it.", maxUpdates, n)
	}
	return nil
}

// chargeLayout counts an update that adds or chooses a schema, spec or sort order.
func chargeLayout(count *int, action string) error {
	if !isLayoutAction(action) {
		return nil
	}
	if *count++; *count > maxLayoutUpdates {
		return fault.New(fault.TooLarge,
			"A commit has at most %d updates of schemas, partition specs and sort orders. Split it.", maxLayoutUpdates)
	}
	return nil
}

// isLayoutAction names the kinds of updates that create-or-replace consists of.
func isLayoutAction(action string) bool {
	switch action {
	case ActionAddSchema, ActionSetCurrentSchema, ActionAddSpec, ActionSetDefaultSpec, ActionAddSortOrder,
		ActionSetDefaultSortOrder:
		return true
	}
	return false
}

// spendSchema takes what reading or comparing schemas costs from the commit's budget.
func (b *builder) spendSchema(bytes int) error {
	if b.schemaSpent += bytes; b.schemaSpent > schemaBudget {
		return fault.New(fault.TooLarge, "The schemas of this commit are larger than %d MB together. Split it.", schemaBudget>>20)
	}
	return nil
}
