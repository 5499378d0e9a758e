package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/icebergtest"
)

// Settle waits until every commit is reconciled.
func Settle(ctx context.Context, c *product.Client) error {
	for {
		tables, err := c.Tables(ctx)
		if err != nil {
			return err
		}
		waiting := ""
		for _, t := range tables {
			if t.PendingCommits > 0 || text(t.CurrentSnapshotID) != text(t.RecordedSnapshotID) {
				waiting = fmt.Sprintf("%s: %d pending, current %s, recorded %s",
					t.Ref, t.PendingCommits, text(t.CurrentSnapshotID), text(t.RecordedSnapshotID))
			}
		}
		if waiting == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not everything is reconciled (%s): %w", waiting, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Observe reads the world through the product's APIs, and the tables' files. The outbox is the caller's to read.
func Observe(ctx context.Context, c *product.Client) (World, error) {
	var w World
	tables, err := c.Tables(ctx)
	if err != nil {
		return w, err
	}
	for _, t := range tables {
		seen, err := observeTable(ctx, c, t)
		if err != nil {
			return w, err
		}
		w.Tables = append(w.Tables, seen)
	}
	if w.Ledger, err = observeLedger(ctx, c); err != nil {
		return w, err
	}
	w.Audit, err = observeAudit(ctx, c)
	return w, err
}

func observeTable(ctx context.Context, c *product.Client, t product.Table) (Table, error) {
	out := Table{UUID: t.UUID, Name: t.Ref, RowCount: t.RowCount, PendingCommits: t.PendingCommits}
	var err error
	if out.CurrentSnapshot, err = snapshotID(t.CurrentSnapshotID); err != nil {
		return out, err
	}
	if out.RecordedOne, err = snapshotID(t.RecordedSnapshotID); err != nil {
		return out, err
	}
	if err := out.readFiles(ctx, c, t); err != nil {
		out.Unreadable = err.Error()
	}
	return out, nil
}

// readFiles reads the table as an engine does, and the metadata file that the answer names.
func (t *Table) readFiles(ctx context.Context, c *product.Client, row product.Table) error {
	loaded, err := c.LoadTable(ctx, row.Namespace[0], row.Name)
	if err != nil {
		return err
	}
	files := icebergtest.LocalFiles()
	stored, err := files.Get(loaded.MetadataLocation)
	if err != nil {
		return err
	}
	for _, metadata := range [][]byte{loaded.Metadata, stored} {
		var doc struct {
			Snapshots []struct {
				ID           int64  `json:"snapshot-id"`
				ManifestList string `json:"manifest-list"`
			} `json:"snapshots"`
		}
		if err := json.Unmarshal(metadata, &doc); err != nil {
			return err
		}
		t.Snapshots = nil
		for _, s := range doc.Snapshots {
			t.Snapshots = append(t.Snapshots, Snapshot{s.ID, s.ManifestList})
		}
	}
	parsed, err := icebergtest.Parse(stored)
	if err != nil {
		return err
	}
	t.Main = parsed.Lineage()
	t.LiveFiles, err = files.LiveFiles(parsed.HeadList)
	return err
}

func observeLedger(ctx context.Context, c *product.Client) ([]LedgerRow, error) {
	rows, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]LedgerRow, len(rows))
	for i, r := range rows {
		id, err := strconv.ParseInt(r.SnapshotID, 10, 64)
		if err != nil {
			return nil, err
		}
		out[i] = LedgerRow{
			TableUUID: r.TableUUID, SnapshotID: id, Status: r.Status, AddedRows: r.AddedRows, AddedFiles: r.AddedFiles,
			RowCountBefore: r.RowCountBefore, RowsAfter: r.RowCountAfter,
		}
	}
	return out, nil
}

func observeAudit(ctx context.Context, c *product.Client) ([]Event, error) {
	events, err := c.Audit(ctx, "")
	if err != nil {
		return nil, err
	}
	out := make([]Event, len(events))
	for i, e := range events {
		out[i] = Event{ID: e.ID, EventID: e.EventID, Type: e.Type, TableUUID: e.TableUUID}
		id, err := snapshotID(e.SnapshotID)
		if err != nil {
			return nil, err
		}
		if id != nil {
			out[i].SnapshotID = *id
		}
	}
	return out, nil
}

func snapshotID(s *string) (*int64, error) {
	if s == nil {
		return nil, nil
	}
	id, err := strconv.ParseInt(*s, 10, 64)
	return &id, err
}

func text(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}
