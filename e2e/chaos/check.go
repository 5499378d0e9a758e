package chaos

import (
	"fmt"
	"slices"
	"strings"
)

// Kind names a broken promise.
type Kind string

// The kinds.
const (
	LostTable        Kind = "a table that was created is gone"
	UnreadableTable  Kind = "a table cannot be read"
	LostCommit       Kind = "an acknowledged commit is not on main"
	RefusedLanded    Kind = "a refused commit is in the table"
	DoubledSnapshot  Kind = "a snapshot is in the metadata twice"
	StrangeSnapshot  Kind = "a snapshot that nobody sent"
	AlteredSnapshot  Kind = "a snapshot is not as it was sent"
	StraySnapshot    Kind = "a snapshot is in the metadata but not on main"
	LostFile         Kind = "a data file of a commit is not live"
	DoubledFile      Kind = "a data file is live more than once"
	StrangeFile      Kind = "a live data file that no commit on main brought"
	LedgerMissing    Kind = "a snapshot has no ledger row"
	LedgerDoubled    Kind = "a snapshot has several ledger rows"
	LedgerStrange    Kind = "a ledger row of a snapshot that is not there"
	LedgerUnfinished Kind = "a ledger row is not reconciled"
	LedgerWrong      Kind = "a ledger row counts wrong"
	EventMissing     Kind = "an effect has no audit event"
	EventDoubled     Kind = "an effect has several audit events"
	EventStrange     Kind = "an audit event of an effect that did not happen"
	EventNameless    Kind = "an audit event without an id of its own"
	WrongRowCount    Kind = "a table's row count is wrong"
	NotRecorded      Kind = "a table's head is not its recorded snapshot"
	PendingCommits   Kind = "a table has pending commits"
	OutboxLeft       Kind = "the outbox is not empty"
)

// Violation is one broken promise.
type Violation struct {
	Kind     Kind
	Table    string // uuid
	Snapshot int64  // 0 none
	Detail   string
}

func (v Violation) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: table %s snapshot %d %s", v.Kind, v.Table, v.Snapshot, v.Detail))
}

// Check holds what was found against what the writers were told; tables are the uuids of the tables that were created.
// It assumes that only the sent appends were committed, all to main.
func Check(tables []string, sent []Sent, found World) []Violation {
	c := &checker{sent: map[key]Sent{}, landed: map[key]bool{}}
	for _, s := range sent {
		c.sent[key{s.TableUUID, s.SnapshotID}] = s
	}
	seen := map[string]bool{}
	for _, t := range found.Tables {
		seen[t.UUID] = true
		c.table(t)
	}
	for _, uuid := range tables {
		if !seen[uuid] {
			c.add(LostTable, uuid, 0, "")
		}
	}
	c.ledger(found.Ledger)
	c.audit(tables, found.Audit)
	if found.Outbox != 0 {
		c.add(OutboxLeft, "", 0, "%d events", found.Outbox)
	}
	return c.broken
}

// key is a snapshot of a table.
type key struct {
	table    string
	snapshot int64
}

type checker struct {
	sent   map[key]Sent
	landed map[key]bool // on main
	order  []key        // the same, oldest first within a table
	broken []Violation
}

func (c *checker) add(kind Kind, table string, snapshot int64, detail string, args ...any) {
	c.broken = append(c.broken, Violation{kind, table, snapshot, fmt.Sprintf(detail, args...)})
}

func (c *checker) table(t Table) {
	if t.Unreadable != "" {
		c.add(UnreadableTable, t.UUID, 0, "%s", t.Unreadable)
		return
	}
	for _, id := range slices.Backward(t.Main) {
		c.landed[key{t.UUID, id}] = true
		c.order = append(c.order, key{t.UUID, id})
	}
	c.snapshots(t)
	c.fates(t.UUID)
	rows := c.files(t)
	if t.RowCount == nil && rows != 0 || t.RowCount != nil && *t.RowCount != rows {
		c.add(WrongRowCount, t.UUID, 0, "%s, want %d", show(t.RowCount), rows)
	}
	if show(t.CurrentSnapshot) != show(t.RecordedOne) || len(t.Main) > 0 && show(t.CurrentSnapshot) != show(&t.Main[0]) {
		c.add(NotRecorded, t.UUID, 0, "current %s, recorded %s", show(t.CurrentSnapshot), show(t.RecordedOne))
	}
	if t.PendingCommits != 0 {
		c.add(PendingCommits, t.UUID, 0, "%d", t.PendingCommits)
	}
}

func (c *checker) snapshots(t Table) {
	times := map[int64]int{}
	for _, s := range t.Snapshots {
		if times[s.ID]++; times[s.ID] > 1 {
			c.add(DoubledSnapshot, t.UUID, s.ID, "")
			continue
		}
		sent, known := c.sent[key{t.UUID, s.ID}]
		switch {
		case !known:
			c.add(StrangeSnapshot, t.UUID, s.ID, "")
		case sent.ManifestList != s.ManifestList:
			c.add(AlteredSnapshot, t.UUID, s.ID, "manifest list %s, sent %s", s.ManifestList, sent.ManifestList)
		}
		if !c.landed[key{t.UUID, s.ID}] {
			c.add(StraySnapshot, t.UUID, s.ID, "")
		}
	}
}

func (c *checker) fates(table string) {
	for k, s := range c.sent {
		if k.table != table {
			continue
		}
		switch {
		case s.Fate == Acknowledged && !c.landed[k]:
			c.add(LostCommit, table, k.snapshot, "")
		case s.Fate == Refused && c.landed[k]:
			c.add(RefusedLanded, table, k.snapshot, "")
		}
	}
}

// files gives the rows that the table must have.
func (c *checker) files(t Table) int64 {
	live := map[string]int{}
	for _, path := range t.LiveFiles {
		live[path]++
	}
	var rows int64
	for _, id := range t.Main {
		sent := c.sent[key{t.UUID, id}]
		rows += sent.Rows
		for _, path := range sent.Files {
			switch n := live[path]; {
			case n == 0:
				c.add(LostFile, t.UUID, id, "%s", path)
			case n > 1:
				c.add(DoubledFile, t.UUID, id, "%s: %d times", path, n)
			}
			delete(live, path)
		}
	}
	for path := range live {
		c.add(StrangeFile, t.UUID, 0, "%s", path)
	}
	return rows
}

func show(n *int64) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}
