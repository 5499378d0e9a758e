package facade

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

func TestCaseA11CreatingTwiceLeavesNothingBehind(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	files := s.metadataFiles(t)
	r := s.want(t, 409, s.post(t, "/namespaces/db/tables", createBody("a")))
	require.Equal(t, "AlreadyExistsException", r.kind())

	staged, end := s.stage(t, "s"), ""
	end = toJSON(map[string]any{"requirements": staged.Requirements, "updates": staged.Updates})
	s.want(t, 200, s.post(t, tablePath("s"), end))
	r = s.want(t, 409, s.post(t, tablePath("s"), end))
	require.Equal(t, "AlreadyExistsException", r.kind())

	var wg sync.WaitGroup
	var won atomic.Int64
	for range 8 {
		wg.Go(func() {
			r, err := s.send(t.Context(), "POST", "/namespaces/db/tables", createBody("race"))
			if assert.NoError(t, err) && assert.Contains(t, []int{200, 409}, r.StatusCode, "%s", r.body) && r.StatusCode == 200 {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, won.Load())
	require.Len(t, s.metadataFiles(t), len(files)+2, "one metadata file for each table that there is")
}

func TestCaseA12DroppingANamespaceThatIsNotEmpty(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	r := s.want(t, 409, s.do(t, "DELETE", "/namespaces/db", ""))
	require.Equal(t, "NamespaceNotEmptyException", r.kind())
	s.want(t, 204, s.do(t, "DELETE", tablePath("a"), ""))
	s.want(t, 204, s.do(t, "DELETE", "/namespaces/db", ""))
}

// stage prepares a table and gives the commit that makes it, with a first append.
func (s *site) stage(t testing.TB, name string) icebergtest.Commit {
	t.Helper()
	var staged loaded
	s.want(t, 200, s.post(t, "/namespaces/db/tables", fmt.Sprintf(`{"name":%q,"stage-create":true,"schema":%s}`, name, columns))).into(t, &staged)
	require.Empty(t, staged.MetadataLocation)
	table, err := icebergtest.Parse(staged.Metadata)
	require.NoError(t, err)
	c, err := s.writer.Append(table, 1, 3)
	require.NoError(t, err)
	c.Requirements = []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)}
	initial := []json.RawMessage{
		json.RawMessage(`{"action":"assign-uuid","uuid":"` + table.UUID + `"}`),
		json.RawMessage(`{"action":"upgrade-format-version","format-version":2}`),
		json.RawMessage(`{"action":"add-schema","schema":` + columns + `}`),
		json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`),
		json.RawMessage(`{"action":"add-spec","spec":{"spec-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-spec","spec-id":-1}`),
		json.RawMessage(`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-sort-order","sort-order-id":-1}`),
		json.RawMessage(`{"action":"set-location","location":"` + table.Location + `"}`),
	}
	c.Updates = append(initial, c.Updates...)
	return c
}

// TestCaseH1StagedCreate is CREATE TABLE AS SELECT: nothing is there until the commit, and an abandoned one leaves nothing.
func TestCaseH1StagedCreate(t *testing.T) {
	s := newSite(t)
	staged := s.stage(t, "ctas")
	s.want(t, 404, s.get(t, tablePath("ctas")))
	require.NotContains(t, string(s.get(t, "/namespaces/db/tables").body), "ctas")
	require.Empty(t, s.metadataFiles(t), "staging writes nothing")
	s.want(t, 204, s.post(t, "/transactions/commit", transaction(change("ctas", staged))))
	require.Equal(t, []int64{staged.SnapshotID}, s.table(t, "ctas").Lineage())
	s.stage(t, "abandoned")
	s.want(t, 404, s.get(t, tablePath("abandoned")))
	require.Len(t, s.metadataFiles(t), 1)
	s.create(t, "abandoned")
}

// TestCaseV1TransactionWithCreates: DuckDB sends the table of a CREATE TABLE AS beside the changes of its transaction.
func TestCaseV1TransactionWithCreates(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"a", "b"} {
		s.create(t, name)
	}
	stale := s.append(t, "b")
	s.want(t, 200, s.post(t, tablePath("b"), string(s.append(t, "b").Body())))
	one, two := s.stage(t, "one"), s.stage(t, "two")
	files := len(s.metadataFiles(t))
	r := s.want(t, 409, s.post(t, "/transactions/commit", transaction(change("one", one), change("a", s.append(t, "a")), change("b", stale))))
	require.Equal(t, "CommitFailedException", r.kind())
	for _, name := range []string{"one", "two"} {
		s.want(t, 404, s.get(t, tablePath(name)))
	}
	require.Zero(t, s.table(t, "a").SnapshotCount, "none of a failed transaction is applied")

	s.want(t, 204, s.post(t, "/transactions/commit", transaction(change("two", two), change("a", s.append(t, "a")), change("one", one), change("b", s.append(t, "b")))))
	require.Equal(t, []int64{one.SnapshotID}, s.table(t, "one").Lineage())
	require.Equal(t, []int64{two.SnapshotID}, s.table(t, "two").Lineage())
	require.Equal(t, 1, s.table(t, "a").SnapshotCount)
	require.Equal(t, 2, s.table(t, "b").SnapshotCount)
	require.Len(t, s.metadataFiles(t), files+4)
	pending, err := s.db.ClaimEvents(t.Context(), "test", time.Minute, 100, 0)
	require.NoError(t, err)
	require.Len(t, pending, 5, "every snapshot of it is governed")

	r = s.want(t, 409, s.post(t, "/transactions/commit", transaction(change("a", s.append(t, "a")), change("one", one))))
	require.Equal(t, "AlreadyExistsException", r.kind())
	require.Contains(t, string(r.body), "already exists: db.one")
	require.Equal(t, 1, s.table(t, "a").SnapshotCount)
	s.want(t, 400, s.post(t, "/transactions/commit", transaction(change("a", s.append(t, "a")), change("a", s.append(t, "a")))))
}

func TestTablesOfOneTransactionLieApart(t *testing.T) {
	s := newSite(t)
	one, two := s.stage(t, "one"), s.stage(t, "two")
	for name, swap := range map[string]struct {
		action string
		status int
	}{"the same uuid": {"assign-uuid", 400}, "the same location": {"set-location", 403}} {
		t.Run(name, func(t *testing.T) {
			same := two
			same.Updates = slices.Clone(two.Updates)
			for i, u := range same.Updates {
				for _, v := range one.Updates {
					if isAction(u, swap.action) && isAction(v, swap.action) {
						same.Updates[i] = v
					}
				}
			}
			if swap.action == "set-location" { // its files would lie elsewhere
				same.Updates = same.Updates[:len(same.Updates)-2]
			}
			s.want(t, swap.status, s.post(t, "/transactions/commit", transaction(change("one", one), change("two", same))))
			s.want(t, 404, s.get(t, tablePath("one")))
		})
	}
	require.Empty(t, s.metadataFiles(t))
}

func isAction(update json.RawMessage, action string) bool {
	var v struct{ Action string }
	return json.Unmarshal(update, &v) == nil && v.Action == action
}

// TestCaseJ1OldWriterOfARecreatedTable and its kind: a commit that asserts another table's uuid never lands.
func TestCaseJ1OldWriterOfARecreatedTable(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	late := s.append(t, "a")
	s.want(t, 204, s.do(t, "DELETE", tablePath("a"), ""))
	s.create(t, "a")
	r := s.want(t, 409, s.post(t, tablePath("a"), string(late.Body())))
	require.Equal(t, "CommitFailedException", r.kind())
	require.Contains(t, string(r.body), "UUID does not match")
	s.want(t, 409, s.post(t, "/transactions/commit", transaction(change("a", late))))
	require.Zero(t, s.table(t, "a").SnapshotCount)
}

// TestCaseJ2FilesOfTheDroppedTable: without asserting a uuid, a late writer's files still do not get into the new table.
func TestCaseJ2FilesOfTheDroppedTable(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	late := s.append(t, "a")
	s.want(t, 204, s.do(t, "DELETE", tablePath("a"), ""))
	s.create(t, "a")
	for _, policy := range []string{"open_append", "open_full"} {
		r, err := s.sendTo(t.Context(), "PUT", s.url+"/api/governance/v1/tables/main.db.a/write-policy", `{"policy":"`+policy+`"}`)
		require.NoError(t, err)
		s.want(t, 200, r)
		body := toJSON(map[string]any{"requirements": []any{}, "updates": late.Updates})
		answer := s.want(t, 403, s.post(t, tablePath("a"), body))
		require.Contains(t, string(answer.body), "outside")
	}
	_, err := os.Stat(icebergtest.LocalPath(late.ManifestList))
	require.NoError(t, err, "the writer's files are its own to clean up")
}
