package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// Gone says what a reconciliation finds missing.
type Gone string

// The ways of being gone.
const (
	NotGone      Gone = ""
	GoneTable    Gone = "table"    // dropped, or replaced by another table
	GoneSnapshot Gone = "snapshot" // expired, and the metadata file of its commit removed
)

// readRaces bounds how often a current metadata file may be replaced and removed between reading its location and
// reading it.
const readRaces = 5

// found is a snapshot with the document it was found in.
type found struct {
	row      models.Table
	current  *metadata.Document // of the table now
	doc      *metadata.Document // holds the snapshot; current unless it was expired since
	location string             // of doc
	snapshot metadata.Snapshot
	gone     Gone
	recent   bool // the row is as it was a moment ago
}

// locate finds a snapshot in the table's current document, else in the document of its own commit. Only a readable
// current document proves that a snapshot is gone: a missing one is an outage, and retried.
func (a *Activities) locate(ctx context.Context, t Target) (found, error) {
	var f found
	var err error
	if f, err = a.currentDocument(ctx, t); err != nil || f.gone != NotGone {
		return f, err
	}
	var ok bool
	if f.snapshot, ok = f.current.Snapshot(t.SnapshotID); ok {
		f.doc, f.location = f.current, f.row.MetadataLocation
		return f, nil
	}
	commit, err := a.recentCommit(ctx, t.TableID, t.SnapshotID)
	if fault.Is(err, fault.NotFound) || err == nil && commit.MetadataLocation == "" {
		f.gone = GoneSnapshot
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.doc, err = a.ports.Documents.Document(ctx, commit.MetadataLocation)
	if fault.Is(err, fault.NotFound) {
		f.gone = GoneSnapshot
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.location = commit.MetadataLocation
	if f.snapshot, ok = f.doc.Snapshot(t.SnapshotID); !ok {
		f.gone = GoneSnapshot
	}
	return f, nil
}

func (a *Activities) currentDocument(ctx context.Context, t Target) (found, error) {
	var last string
	for range readRaces {
		row, err := a.tableRow(ctx, t.TableID)
		switch {
		case fault.Is(err, fault.NotFound), err == nil && row.UUID != t.TableUUID:
			return found{gone: GoneTable}, nil
		case err != nil:
			return found{}, err
		}
		doc, err := a.ports.Documents.Document(ctx, row.MetadataLocation)
		if err == nil {
			return found{row: row, current: doc}, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return found{}, err
		}
		if row.MetadataLocation == last {
			return found{}, fault.Wrap(err, fault.Unavailable,
				"The current metadata file of table %s is missing: bring back the warehouse, or restore the file.", t.TableName)
		}
		last = row.MetadataLocation
	}
	return found{}, fault.New(fault.Conflict, "Table %s changes faster than its metadata can be read.", t.TableName)
}

// onMain tells whether a snapshot is main's head or an ancestor of it.
func onMain(doc *metadata.Document, snapshotID int64) bool {
	head, ok := doc.CurrentSnapshotID()
	return ok && (head == snapshotID || doc.IsAncestor(snapshotID, head))
}
