package catalog_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// A governed write lands under every policy, as a commit of the platform by who wrote the rows, with its record and its event.
func TestGovernedWritesLand(t *testing.T) {
	for _, p := range []models.WritePolicy{models.GovernedOnly, models.OpenAppend, models.OpenFull} {
		t.Run(string(p), func(t *testing.T) {
			h := newHarness(t)
			h.create(t, "events", p)
			h.client.Summary = map[string]string{"sluice.write-id": "w", "sluice.write-mode": "append", "engine-name": "sluice"}
			c := h.append(t, "events", 3)
			w, err := h.land(t, "events", c, models.AppendRows)
			must(t, err)
			ctx := context.Background()
			ledger, err := h.store.Commit(ctx, w.TableID, c.SnapshotID)
			must(t, err)
			if ledger.Kind != models.PlatformCommit || ledger.Writer.V.Principal != "ada" || ledger.Writer.V.Engine != "sluice" || ledger.Summary.V["sluice.write-id"] != "w" {
				t.Errorf("the ledger has %+v", ledger)
			}
			got, err := h.store.GovernedWrite(ctx, w.ID)
			must(t, err)
			if got.SnapshotID != c.SnapshotID || got.CommittedAt.IsZero() {
				t.Errorf("the write is %+v", got)
			}
			blocks, err := h.store.RowAuditBlocks(ctx, models.RowAuditFilter{WriteID: w.ID})
			must(t, err)
			if len(blocks) != 1 {
				t.Errorf("%d blocks", len(blocks))
			}
			h.wantRowsWritten(t, w)
		})
	}
}

func (h *harness) wantRowsWritten(t *testing.T, w models.GovernedWrite) {
	t.Helper()
	events := h.audit(t, models.AuditRowsWritten)
	if len(events) != 1 {
		t.Fatalf("the audit has %+v", events)
	}
	e := events[0]
	if e.EventID != w.ID || e.Principal != "ada" || e.Table != "db.events" || e.TableUUID != w.TableUUID || e.Catalog != "main" || !e.Allowed {
		t.Errorf("the event is %+v", e)
	}
	if e.SnapshotID == nil || *e.SnapshotID != w.SnapshotID {
		t.Errorf("the event is of snapshot %v", e.SnapshotID)
	}
	delete(e.Details.V, "metadataLocation")
	raw, err := json.Marshal(e.Details.V)
	must(t, err)
	const want = `{"identityColumns":null,"label":"restricted","level":"internal","levels":{"internal":1},"mode":"append","quarantined":0,"rows":1,"superseded":0,"tags":{"email":1},"updated":2}`
	if string(raw) != want {
		t.Errorf("its details are %s", raw)
	}
}

// The rows and what was quarantined of them land together, and the write once.
func TestGovernedWritesOfTwoTables(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.GovernedOnly)
	h.create(t, "events__quarantine", models.GovernedOnly)
	rows, bad := h.append(t, "events", 3), h.append(t, "events__quarantine", 1)
	row := h.load(t, "events").Row
	w := models.GovernedWrite{ID: "w1", CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, TableName: "db.events", SnapshotID: rows.SnapshotID, Mode: models.AppendRows}
	first, second := input("events", rows.Requirements, rows.Updates), input("events__quarantine", bad.Requirements, bad.Updates)
	first.Write = &w
	must(t, h.CommitTransaction(ctx, h.platform("ada"), h.cat, []catalog.CommitInput{first, second}))
	writes, err := h.store.GovernedWrites(ctx, models.GovernedWriteFilter{})
	must(t, err)
	if len(writes) != 1 || writes[0].TableID != row.ID {
		t.Fatalf("the writes are %+v", writes)
	}

	// All was quarantined: the commit is the side table's, the write still that of the table.
	bad = h.append(t, "events__quarantine", 1)
	all := input("events__quarantine", bad.Requirements, bad.Updates)
	w2 := w
	w2.ID, w2.SnapshotID, w2.Quarantined, w2.QuarantineTable = "w2", 0, 1, "db.events__quarantine"
	all.Write = &w2
	_, err = h.CommitTable(ctx, h.platform("ada"), h.cat, all)
	must(t, err)
	events := h.audit(t, models.AuditRowsWritten)
	if len(events) != 2 || events[0].Table != "db.events" || events[0].TableUUID != row.UUID || events[0].SnapshotID != nil ||
		events[0].Details.V["quarantineTable"] != "db.events__quarantine" {
		t.Fatalf("the events are %+v", events)
	}
}

// A commit that is refused leaves no write behind.
func TestARefusedCommitHasNoWrite(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.GovernedOnly)
	c := h.append(t, "events", 3)
	_, err := h.land(t, "events", h.append(t, "events", 1), models.AppendRows)
	must(t, err)
	_, err = h.land(t, "events", c, models.AppendRows) // made for the state before
	wantCode(t, err, fault.Conflict)
	writes, err := h.store.GovernedWrites(context.Background(), models.GovernedWriteFilter{})
	must(t, err)
	if len(writes) != 1 || len(h.audit(t, models.AuditRowsWritten)) != 1 {
		t.Fatalf("the writes are %+v", writes)
	}
}
