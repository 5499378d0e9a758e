package chaos

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const uuid = "7f0c"

// goodWorld is a table with three appends of ten rows, of which everything was told right, beside a fourth that was
// refused and a fifth of which nothing is known.
func goodWorld() ([]string, []Sent, World) {
	var sent []Sent
	t := Table{UUID: uuid, Name: "db.t", RowCount: n(30), CurrentSnapshot: n(3), RecordedOne: n(3)}
	w := World{Audit: []Event{{ID: "1", EventID: "e1", Type: createdEvent, TableUUID: uuid}}}
	for id := int64(1); id <= 5; id++ {
		s := Sent{
			TableUUID: uuid, SnapshotID: id, ManifestList: fmt.Sprintf("list-%d", id), Rows: 10, Fate: Acknowledged,
			Files: []string{fmt.Sprintf("%d-a", id), fmt.Sprintf("%d-b", id)},
		}
		if id > 3 {
			s.Fate = map[int64]Fate{4: Refused, 5: Unknown}[id]
			sent = append(sent, s)
			continue
		}
		sent = append(sent, s)
		t.Snapshots = append(t.Snapshots, Snapshot{id, s.ManifestList})
		t.Main = slices.Insert(t.Main, 0, id)
		t.LiveFiles = append(t.LiveFiles, s.Files...)
		w.Ledger = append(w.Ledger, LedgerRow{
			TableUUID: uuid, SnapshotID: id, Status: "reconciled", AddedRows: n(10), AddedFiles: n(2),
			RowCountBefore: n(10 * (id - 1)), RowsAfter: n(10 * id),
		})
		w.Audit = append(w.Audit, event(2*id, committedEvent, id), event(2*id+1, reconciledEvent, id))
	}
	w.Tables = []Table{t}
	return []string{uuid}, sent, w
}

func n(v int64) *int64 { return &v }

func event(id int64, kind string, snapshot int64) Event {
	return Event{ID: fmt.Sprint(id), EventID: fmt.Sprintf("e%d", id), Type: kind, TableUUID: uuid, SnapshotID: snapshot}
}

func TestCheckAcceptsWhatIsRight(t *testing.T) {
	t.Parallel()
	assert.Empty(t, Check(goodWorld()))

	// A commit of which nothing is known may have landed.
	tables, sent, w := goodWorld()
	land(&w, sent[4])
	assert.Empty(t, Check(tables, sent, w))

	// A table without commits has no count yet, or 0.
	for _, count := range []*int64{nil, n(0)} {
		empty := World{Tables: []Table{{UUID: uuid, RowCount: count}}, Audit: []Event{event(1, createdEvent, 0)}}
		assert.Empty(t, Check([]string{uuid}, nil, empty))
	}
}

// land adds a commit on top of everything, as the product would.
func land(w *World, s Sent) {
	t, before := &w.Tables[0], *w.Tables[0].RowCount
	t.Snapshots = append(t.Snapshots, Snapshot{s.SnapshotID, s.ManifestList})
	t.Main = slices.Insert(t.Main, 0, s.SnapshotID)
	t.LiveFiles = append(t.LiveFiles, s.Files...)
	t.RowCount, t.CurrentSnapshot, t.RecordedOne = n(before+s.Rows), n(s.SnapshotID), n(s.SnapshotID)
	w.Ledger = append(w.Ledger, LedgerRow{uuid, s.SnapshotID, "reconciled", n(s.Rows), n(2), n(before), n(before + s.Rows)})
	w.Audit = append(w.Audit, event(50, committedEvent, s.SnapshotID), event(51, reconciledEvent, s.SnapshotID))
}

func TestCheckSeesEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		want Kind
		harm func(w *World, sent []Sent)
	}{
		"table gone":          {LostTable, func(w *World, _ []Sent) { w.Tables = nil; w.Ledger = nil }},
		"metadata unreadable": {UnreadableTable, func(w *World, _ []Sent) { w.Tables[0].Unreadable = "no such file" }},
		"lost head":           {LostCommit, func(w *World, _ []Sent) { lose(&w.Tables[0], 3) }},
		"lost in the middle":  {LostCommit, func(w *World, _ []Sent) { lose(&w.Tables[0], 2) }},
		"refused landed":      {RefusedLanded, func(w *World, sent []Sent) { land(w, sent[3]) }},
		"snapshot twice": {DoubledSnapshot, func(w *World, _ []Sent) {
			w.Tables[0].Snapshots = append(w.Tables[0].Snapshots, w.Tables[0].Snapshots[1])
		}},
		"foreign snapshot":           {StrangeSnapshot, func(w *World, _ []Sent) { land(w, Sent{SnapshotID: 99, ManifestList: "x", Rows: 0}) }},
		"altered snapshot":           {AlteredSnapshot, func(w *World, _ []Sent) { w.Tables[0].Snapshots[0].ManifestList = "other" }},
		"snapshot off main":          {StraySnapshot, func(w *World, _ []Sent) { w.Tables[0].Snapshots = append(w.Tables[0].Snapshots, Snapshot{5, "list-5"}) }},
		"half a commit":              {LostFile, func(w *World, _ []Sent) { w.Tables[0].LiveFiles = w.Tables[0].LiveFiles[1:] }},
		"commit applied twice":       {DoubledFile, func(w *World, _ []Sent) { w.Tables[0].LiveFiles = append(w.Tables[0].LiveFiles, "2-a") }},
		"foreign file":               {StrangeFile, func(w *World, _ []Sent) { w.Tables[0].LiveFiles = append(w.Tables[0].LiveFiles, "x") }},
		"no ledger row":              {LedgerMissing, func(w *World, _ []Sent) { w.Ledger = w.Ledger[1:] }},
		"two ledger rows":            {LedgerDoubled, func(w *World, _ []Sent) { w.Ledger = append(w.Ledger, w.Ledger[0]) }},
		"ledger row of nothing":      {LedgerStrange, func(w *World, _ []Sent) { w.Ledger = append(w.Ledger, LedgerRow{TableUUID: uuid, SnapshotID: 4}) }},
		"pending ledger row":         {LedgerUnfinished, func(w *World, _ []Sent) { w.Ledger[1].Status = "pending" }},
		"abandoned ledger row":       {LedgerUnfinished, func(w *World, _ []Sent) { w.Ledger[1].Status = "abandoned" }},
		"ledger without counts":      {LedgerWrong, func(w *World, _ []Sent) { w.Ledger[1].AddedRows = nil }},
		"ledger counts before wrong": {LedgerWrong, func(w *World, _ []Sent) { w.Ledger[2].RowCountBefore = n(10) }},
		"ledger counts after wrong":  {LedgerWrong, func(w *World, _ []Sent) { w.Ledger[2].RowsAfter = n(40) }},
		"ledger counts files wrong":  {LedgerWrong, func(w *World, _ []Sent) { w.Ledger[0].AddedFiles = n(1) }},
		"commit without event":       {EventMissing, func(w *World, _ []Sent) { drop(w, committedEvent) }},
		"commit without governance":  {EventMissing, func(w *World, _ []Sent) { drop(w, reconciledEvent) }},
		"table without event":        {EventMissing, func(w *World, _ []Sent) { drop(w, createdEvent) }},
		"committed twice":            {EventDoubled, func(w *World, _ []Sent) { w.Audit = append(w.Audit, event(60, committedEvent, 2)) }},
		"reconciled twice":           {EventDoubled, func(w *World, _ []Sent) { w.Audit = append(w.Audit, event(60, reconciledEvent, 2)) }},
		"event of a refused commit":  {EventStrange, func(w *World, _ []Sent) { w.Audit = append(w.Audit, event(60, committedEvent, 4)) }},
		"event without id":           {EventNameless, func(w *World, _ []Sent) { w.Audit[2].EventID = "" }},
		"two events of one id":       {EventNameless, func(w *World, _ []Sent) { w.Audit[2].ID = w.Audit[1].ID }},
		"row count too low":          {WrongRowCount, func(w *World, _ []Sent) { w.Tables[0].RowCount = n(20) }},
		"no row count":               {WrongRowCount, func(w *World, _ []Sent) { w.Tables[0].RowCount = nil }},
		"recorded behind":            {NotRecorded, func(w *World, _ []Sent) { w.Tables[0].RecordedOne = n(2) }},
		"pointer and row differ":     {NotRecorded, func(w *World, _ []Sent) { w.Tables[0].CurrentSnapshot, w.Tables[0].RecordedOne = n(2), n(2) }},
		"pending commits":            {PendingCommits, func(w *World, _ []Sent) { w.Tables[0].PendingCommits = 1 }},
		"outbox left":                {OutboxLeft, func(w *World, _ []Sent) { w.Outbox = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tables, sent, w := goodWorld()
			tt.harm(&w, sent)
			broken := Check(tables, sent, w)
			require.NotEmpty(t, broken)
			kinds := make([]Kind, len(broken))
			for i, v := range broken {
				kinds[i] = v.Kind
			}
			assert.Contains(t, kinds, tt.want)
		})
	}
}

// lose takes a snapshot out of main and the metadata, and leaves its files.
func lose(t *Table, id int64) {
	t.Main = slices.DeleteFunc(t.Main, func(other int64) bool { return other == id })
	t.Snapshots = slices.DeleteFunc(t.Snapshots, func(s Snapshot) bool { return s.ID == id })
}

// drop removes one event of a kind.
func drop(w *World, kind string) {
	i := slices.IndexFunc(w.Audit, func(e Event) bool { return e.Type == kind })
	w.Audit = slices.Delete(w.Audit, i, i+1)
}
