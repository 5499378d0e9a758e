package dataplane_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

var upsert = dataplane.WriteInput{Mode: models.UpsertRows}

func TestUpsertsReplaceRowsOfTheirKeys(t *testing.T) {
	for version := 2; version <= 3; version++ {
		for _, spec := range []string{"", byRegion} {
			t.Run(fmt.Sprintf("v%d %s", version, spec), func(t *testing.T) {
				l := newWriteLake(t)
				l.make(made{name: "orders", version: version, identifier: "1", spec: spec})
				first := l.wrote("orders", upsert, order(1, "EU", "a"), order(2, "US", "b"), order(3, "EU", "c"))
				require.EqualValues(t, 3, first.Rows)
				require.Zero(t, *first.Updated)

				// One stays where it is, one moves to another partition, one is sent twice, one is new.
				second := l.wrote("orders", upsert, order(1, "EU", "A"), order(4, "EU", "x"), order(2, "EU", "B"), order(4, "US", "d"))
				require.EqualValues(t, 3, second.Rows)
				require.EqualValues(t, 2, *second.Updated)
				require.EqualValues(t, 1, second.Superseded)
				require.Equal(t, []string{order(1, "EU", "A"), order(2, "EU", "B"), order(3, "EU", "c"), order(4, "US", "d")}, l.content("orders"))

				records := l.records(second.AuditID)
				require.Len(t, records, 3)
				updated := 0
				for _, r := range records {
					if r.Updated {
						updated++
					}
				}
				require.Equal(t, 2, updated)
				require.Subset(t, l.hashes("orders", "id"), hashesOf(records))

				third := l.wrote("orders", upsert, order(1, "EU", "AA"), order(3, "US", "C"))
				require.EqualValues(t, 2, *third.Updated)
				require.Equal(t, []string{order(1, "EU", "AA"), order(2, "EU", "B"), order(3, "US", "C"), order(4, "US", "d")}, l.content("orders"))
			})
		}
	}
}

// Rows that engines appended are replaced too, however often they have the key.
func TestUpsertsReplaceWhatEnginesWrote(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 3, identifier: "1"})
	l.externally("orders", order(1, "EU", "a"), order(1, "EU", "a again"), order(2, "US", "b"))
	l.externally("orders", order(1, "US", "once more"))
	out := l.wrote("orders", upsert, order(1, "EU", "A"))
	require.EqualValues(t, 1, out.Rows)
	require.Equal(t, []string{order(1, "EU", "A"), order(2, "US", "b")}, l.content("orders"))
	require.EqualValues(t, 3, *out.Updated)
}

func TestTheLastRowOfAKeyLands(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2, identifier: "1"})
	var lines, want []string
	for round := range 40 {
		for id := range 500 {
			lines = append(lines, order(id, "EU", fmt.Sprint("round ", round)))
			if round == 39 {
				want = append(want, lines[len(lines)-1])
			}
		}
	}
	out := l.wrote("orders", upsert, lines...)
	require.EqualValues(t, 500, out.Rows)
	require.EqualValues(t, 39*500, out.Superseded)
	slices.Sort(want)
	require.Equal(t, want, l.content("orders"))
	require.Equal(t, l.hashes("orders", "id"), hashesOf(l.records(out.AuditID)))
}

func TestKeysOfUpserts(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "old", version: 1})
	l.make(made{name: "keyless", version: 2})
	l.make(made{name: "governed", version: 2})
	l.make(made{name: "odd", version: 2, fields: orderFields + `,{"id":4,"name":"price","type":"double","required":false}`})
	l.govern("governed", "", []string{"region", "note"}, nil)
	l.govern("odd", "", []string{"price"}, nil)
	for name, says := range map[string]string{"old": "Upgrade it to version 2", "keyless": "identifier fields", "odd": "price"} {
		_, err := l.write(name, upsert, order(1, "EU", "a"))
		refused(t, err, fault.Invalid, says)
	}
	l.wrote("governed", upsert, order(1, "EU", "a"), order(2, "US", "a"))
	l.wrote("governed", upsert, order(3, "EU", "a"))
	require.Equal(t, []string{order(2, "US", "a"), order(3, "EU", "a")}, l.content("governed"))
	_, err := l.write("governed", upsert, order(4, "EU", "b"), `{"id":"5","region":"EU"}`)
	refused(t, err, fault.Invalid, "row 2")
	require.Contains(t, err.Error(), "note")
}

// Keys are the identifier fields, and the audit's hashes are of what governance says is the identity.
func TestKeysAndIdentityMayDiffer(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2, identifier: "1"})
	l.govern("orders", "", []string{"region"}, nil)
	l.wrote("orders", upsert, order(1, "EU", "a"), order(2, "EU", "b"))
	out := l.wrote("orders", upsert, order(2, "US", "c"), order(3, "EU", "d"), order(3, "APAC", "e"))
	require.EqualValues(t, 1, *out.Updated)
	require.EqualValues(t, 1, out.Superseded)
	require.Equal(t, []string{order(1, "EU", "a"), order(2, "US", "c"), order(3, "APAC", "e")}, l.content("orders"))
	records := l.records(out.AuditID)
	require.Len(t, records, 2)
	require.Subset(t, l.hashes("orders", "region"), hashesOf(records))
	_, found, err := l.data.FindRow(t.Context(), l.owner(), "main.sales.orders", json.RawMessage(`{"region":"US"}`))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, out.AuditID, found[0].Write.ID)

	for identity, want := range map[string]string{
		`{"region":"US","note":"c"}`: "a value for region alone: note is none of the columns that identify a row.", // it is a column
		`{"region":5}`:               "a value for region: region ",
		`{}`:                         "a value for region: region is missing, and may be null.",
	} {
		_, _, err := l.data.FindRow(t.Context(), l.owner(), "main.sales.orders", json.RawMessage(identity))
		refused(t, err, fault.Invalid, want)
	}
}

// What comes between is neither lost nor doubled.
func TestUpsertsBesideExternalAppends(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2, identifier: "1", spec: byRegion})
	l.wrote("orders", upsert, order(1, "EU", "a"))
	between := 0
	l.core.before = func() {
		if between++; between <= 2 {
			_, err := l.core.Service.CommitTable(t.Context(), l.owner(), l.cat, l.appendOf("orders", order(1, "US", "theirs"), order(10+between, "EU", "theirs")))
			require.NoError(t, err)
		}
	}
	out := l.wrote("orders", upsert, order(1, "EU", "mine"), order(2, "EU", "mine"))
	require.Equal(t, 3, between, "it is tried until it succeeds")
	require.EqualValues(t, 3, *out.Updated)
	require.Equal(t, []string{
		order(1, "EU", "mine"), order(11, "EU", "theirs"), order(12, "EU", "theirs"), order(2, "EU", "mine"),
	}, l.content("orders"))
}

// Another upsert of the same keys lands in between: the rows that it removed are not removed once more, and its own are.
func TestUpsertsOfTheSameKeysInTwoProcesses(t *testing.T) {
	for version := 2; version <= 3; version++ {
		l := newWriteLake(t)
		l.make(made{name: "orders", version: version, identifier: "1"})
		l.wrote("orders", upsert, order(1, "EU", "a"), order(2, "EU", "a"), order(3, "EU", "a"))
		deps := l.another()
		deps.Catalog = l.core.Service
		other := dataplane.New(deps)
		l.core.before = sync.OnceFunc(func() {
			_, err := other.Write(t.Context(), l.writer(), "main.sales.orders", written(upsert, order(1, "EU", "theirs"), order(3, "EU", "theirs")))
			require.NoError(t, err)
		})
		out := l.wrote("orders", upsert, order(1, "EU", "mine"), order(2, "EU", "mine"))
		require.EqualValues(t, 2, *out.Updated)
		require.Equal(t, []string{order(1, "EU", "mine"), order(2, "EU", "mine"), order(3, "EU", "theirs")}, l.content("orders"))
	}
}

// appendOf is an engine's commit of rows.
func (l *writeLake) appendOf(name string, lines ...string) catalog.CommitInput {
	l.t.Helper()
	return l.stagedAppend(name, lines...).Input
}

func TestManyWritersOfOneTable(t *testing.T) {
	l := newWriteLake(t, func(d *dataplane.Deps) { d.Limits.Concurrency = 16 })
	l.make(made{name: "orders", version: 3, identifier: "1", spec: byRegion})
	l.make(made{name: "log", version: 2})
	var all sync.WaitGroup
	var mu sync.Mutex
	lastOf := map[int]bool{}
	rounds := 6
	for writer := range 4 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(writer), 7))
			for range rounds {
				var lines []string
				for range 20 {
					id := random.IntN(60)
					mu.Lock()
					lastOf[id] = true
					mu.Unlock()
					lines = append(lines, order(id, []string{"EU", "US"}[random.IntN(2)], fmt.Sprint("by ", writer)))
				}
				_, err := l.write("orders", upsert, lines...)
				require.NoError(t, err)
				_, err = l.write("log", dataplane.WriteInput{}, lines...)
				require.NoError(t, err)
			}
		})
	}
	all.Wait()
	require.Len(t, l.content("log"), 4*rounds*20, "no append is lost or doubled")
	seen := map[string]bool{}
	for _, text := range l.content("orders") {
		var row struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(text), &row))
		require.False(t, seen[row.ID], "key %s is there twice", row.ID)
		seen[row.ID] = true
	}
	require.Len(t, seen, len(lastOf))
}

// How many rows an upsert replaced tells which keys there are, which not everybody who may write may know.
func TestUpdatesAreToldToThoseWhoSeeTheKeys(t *testing.T) {
	for name, hide := range map[string]func(l *writeLake) error{
		"a key above the clearance": func(l *writeLake) error {
			_, err := l.core.SetGovernance(l.t.Context(), l.owner(), "main.sales.orders", catalog.GovernanceInput{
				Columns: map[string]models.ColumnGovernance{"id": {Sensitivity: models.Restricted}},
			})
			return err
		},
		"a row filter": func(l *writeLake) error {
			filter := "region = 'US'"
			_, err := l.core.SetRowFilter(l.t.Context(), l.owner(), "main.sales.orders", "service_admin", &filter)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newWriteLake(t)
			l.make(made{name: "orders", version: 2, identifier: "1"})
			l.wrote("orders", upsert, order(1, "EU", "a"))
			require.EqualValues(t, 1, *l.wrote("orders", upsert, order(1, "EU", "b")).Updated)
			require.NoError(t, hide(l))
			require.Nil(t, l.wrote("orders", upsert, order(1, "EU", "c")).Updated)
		})
	}
}
