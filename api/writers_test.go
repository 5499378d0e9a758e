package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// writerCases stands in for the use cases of writers: it has rows in order of id, and keeps what it was asked last.
type writerCases struct {
	rows      []models.NamedWriter
	ref, id   string
	filters   []models.WriterFilter
	principal string
	every     *time.Duration
	note      string
	fail      error
	set       bool
}

// Writers implements governance.Writers.
func (c *writerCases) Writers(_ context.Context, _ policy.Caller, ref string, f models.WriterFilter) ([]models.NamedWriter, error) {
	c.ref, c.filters = ref, append(c.filters, f)
	var out []models.NamedWriter
	for _, w := range c.rows {
		if w.ID > f.After && (f.State == "" || f.State == w.State) && len(out) < f.Limit {
			out = append(out, w)
		}
	}
	return out, c.fail
}

// Writer implements governance.Writers.
func (c *writerCases) Writer(_ context.Context, _ policy.Caller, id string) (models.NamedWriter, error) {
	c.id = id
	return writer(id), c.fail
}

// DeclareWriter implements governance.Writers.
func (c *writerCases) DeclareWriter(_ context.Context, _ policy.Caller, ref, principal string, every time.Duration) (models.NamedWriter, error) {
	c.ref, c.principal, c.every = ref, principal, &every
	return models.NamedWriter{CatalogName: "main", TableWriter: models.TableWriter{ID: "w1", Kind: models.ExpectedWriter, State: models.WriterActive, Every: every.Milliseconds(), CreatedAt: now}}, c.fail
}

// SetWriterCadence implements governance.Writers.
func (c *writerCases) SetWriterCadence(_ context.Context, _ policy.Caller, id string, every *time.Duration) (models.NamedWriter, error) {
	c.id, c.every, c.set = id, every, true
	return writer(id), c.fail
}

// RetireWriter implements governance.Writers.
func (c *writerCases) RetireWriter(_ context.Context, _ policy.Caller, id, note string) (models.NamedWriter, error) {
	c.id, c.note = id, note
	return writer(id, func(w *models.NamedWriter) { w.State = models.WriterRetired }), c.fail
}

// writer is a stream that has committed once a minute, the last time a minute and a half ago.
func writer(id string, change ...func(*models.NamedWriter)) models.NamedWriter {
	first, last, snapshot, expiry := now.Add(-time.Hour), now.Add(-90*time.Second), int64(9007199254740993), now.Add(time.Hour)
	w := models.NamedWriter{
		CatalogName: "main", Mode: models.DelegationMode("vended-credentials"), TokenExpiry: &expiry,
		TableWriter: models.TableWriter{
			ID: id, Table: "sales.orders", TableUUID: "u1", Kind: models.FlinkWriter, Key: "op", Principal: "etl", Engine: "flink", Version: "1.20", Job: "j1",
			Ref: "main", TokenID: "t1", LastCommit: &snapshot, Commits: 60, FirstCommitAt: &first, LastCommitAt: &last, Median: 60_000, Spread: 500,
			State: models.WriterActive, CreatedAt: first,
		},
	}
	w.Watermark.V = map[string]int64{"checkpoint": 60}
	w.Intervals.V = []int64{60_000, 60_000, 60_000, 60_000, 60_000, 60_000}
	for _, f := range change {
		f(&w)
	}
	return w
}

func writerSite(t *testing.T) (*site, *writerCases) {
	t.Helper()
	cases := &writerCases{}
	return newSite(t, func(d *api.Deps) {
		d.Governance.Writers, d.Governance.Limits = cases, writers.Limits{Factor: 5, Floor: time.Minute}
	}), cases
}

func TestAWriterIsShown(t *testing.T) {
	s, cases := writerSite(t)
	r := s.do("GET", governancePath+"/writers/w7", "")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "w7", cases.id)
	require.JSONEq(t, `{"id":"w7","ref":"main.sales.orders","catalog":"main","table":"sales.orders","tableUuid":"u1","kind":"flink","key":"op","principal":"etl",
		"engine":"flink","version":"1.20","job":"j1","branch":"main","watermark":{"checkpoint":60},"validThrough":null,
		"firstCommitAt":"2026-03-01T11:00:00Z","lastCommitAt":"2026-03-01T11:58:30Z","lastSnapshotId":"9007199254740993","commits":60,
		"cadence":{"learned":{"median":"1m0s","spread":"500ms"},"every":null},"dueAt":"2026-03-01T12:03:30Z","state":"active","secondsSinceLastCommit":90,
		"credential":{"mode":"vended-credentials","tokenId":"t1","tokenExpiresAt":"2026-03-01T13:00:00Z","tokenGone":false},
		"createdAt":"2026-03-01T11:00:00Z"}`, string(r.body))
	cases.fail = fault.New(fault.NotFound, "There is no writer.")
	require.Equal(t, 404, s.do("GET", governancePath+"/writers/w7", "").StatusCode)
}

// states is one writer of each state that people are told, by id.
func states() []models.NamedWriter {
	long := now.Add(-time.Hour)
	return []models.NamedWriter{
		writer("a1"),
		writer("b1", func(w *models.NamedWriter) { w.LastCommitAt = &long }),
		writer("c1", func(w *models.NamedWriter) {
			w.Kind, w.FirstCommitAt, w.LastCommitAt, w.Every = models.ExpectedWriter, nil, nil, 1000
		}),
		writer("d1", func(w *models.NamedWriter) { w.State, w.LastCommitAt = models.WriterFinished, &long }),
		writer("e1", func(w *models.NamedWriter) { w.State, w.LastCommitAt = models.WriterRetired, &long }),
		writer("f1", func(w *models.NamedWriter) { w.LastCommitAt = &long }),
	}
}

func TestWritersAreListedByTheirState(t *testing.T) {
	s, cases := writerSite(t)
	cases.rows = states()
	list := func(query string) (ids []string, next any) {
		r := s.do("GET", governancePath+"/writers?table=main.sales.orders"+query, "")
		require.Equal(t, 200, r.StatusCode, "%s", r.body)
		for _, item := range r.json(t)["items"].([]any) {
			ids = append(ids, fmt.Sprint(item.(map[string]any)["id"], " ", item.(map[string]any)["state"]))
		}
		return ids, r.json(t)["next"]
	}
	ids, next := list("")
	require.Equal(t, []string{"a1 active", "b1 late", "c1 never", "d1 finished", "e1 retired", "f1 late"}, ids)
	require.Nil(t, next)
	require.Equal(t, "main.sales.orders", cases.ref)
	for state, want := range map[string][]string{
		"active": {"a1 active"}, "late": {"b1 late", "f1 late"}, "never": {"c1 never"}, "finished": {"d1 finished"}, "retired": {"e1 retired"},
	} {
		ids, next = list("&state=" + state)
		require.Equal(t, want, ids)
		require.Nil(t, next)
	}
	ids, next = list("&state=late&limit=1")
	require.Equal(t, []string{"b1 late"}, ids, "one that no row calls late is looked for page by page")
	require.Equal(t, "b1", next)
	ids, _ = list("&state=late&limit=1&after=b1")
	require.Equal(t, []string{"f1 late"}, ids)
	ids, next = list("&limit=2")
	require.Len(t, ids, 2)
	require.Equal(t, "b1", next)
	for query, says := range map[string]string{"state=lat": "never", "limit=0": "limit", "kind=flink": "kind"} {
		r := s.do("GET", governancePath+"/writers?"+query, "")
		require.Equal(t, 400, r.StatusCode, query)
		require.Contains(t, string(r.body), says)
	}
}

// TestTheSearchForLateWritersEnds: a page may come up short, and says where to go on.
func TestTheSearchForLateWritersEnds(t *testing.T) {
	s, cases := writerSite(t)
	for i := range 50 {
		cases.rows = append(cases.rows, writer(fmt.Sprintf("w%02d", i)))
	}
	r := s.do("GET", governancePath+"/writers?state=late&limit=1", "")
	require.Equal(t, 200, r.StatusCode)
	require.Empty(t, r.json(t)["items"])
	require.Equal(t, "w19", r.json(t)["next"])
	require.Len(t, cases.filters, 20)
}

func TestAWriterIsDeclared(t *testing.T) {
	s, cases := writerSite(t)
	r := s.do("POST", governancePath+"/writers", `{"table":"main.sales.orders","principal":"etl","every":"25h"}`)
	require.Equal(t, 201, r.StatusCode, "%s", r.body)
	require.Equal(t, []any{"main.sales.orders", "etl", 25 * time.Hour}, []any{cases.ref, cases.principal, *cases.every})
	answer := r.json(t)
	require.Equal(t, []any{"never", "expected", nil}, []any{answer["state"], answer["kind"], answer["secondsSinceLastCommit"]})
	require.Equal(t, map[string]any{"learned": nil, "every": "25h0m0s"}, answer["cadence"])
	require.NotNil(t, answer["dueAt"])
	for body, says := range map[string]string{
		`{"table":"t","principal":"p"}`:                             `"every"`,
		`{"table":"t","principal":"p","every":null}`:                `"every"`,
		`{"table":"t","principal":"p","every":"soon"}`:              "10m",
		`{"table":"t","principal":"p","every":"10y"}`:               "10m",
		`{"table":"t","principal":"p","every":60}`:                  "string",
		`{"table":"t","every":"1h"}`:                                `"principal"`,
		`{"principal":"p","every":"1h"}`:                            `"table"`,
		`{"table":"t","principal":"p","every":"1h","kind":"flink"}`: `"kind"`,
	} {
		r := s.do("POST", governancePath+"/writers", body)
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, body)
		require.Contains(t, message, says, body)
	}
}

func TestAWritersCadenceIsSetAndGivenBack(t *testing.T) {
	s, cases := writerSite(t)
	require.Equal(t, 200, s.do("PUT", governancePath+"/writers/w1", `{"every":"10m"}`).StatusCode)
	require.Equal(t, 10*time.Minute, *cases.every)
	require.Equal(t, 200, s.do("PUT", governancePath+"/writers/w1", `{"every":null}`).StatusCode)
	require.Nil(t, cases.every, "null gives it back to what is learned")
	cases.set = false
	for _, body := range []string{`{}`, `{"every":""}`, `{"every":"0s"}`, `{"every":"1h","state":"late"}`} {
		require.Equal(t, 400, s.do("PUT", governancePath+"/writers/w1", body).StatusCode, body)
	}
	require.False(t, cases.set)
}

func TestAWriterIsRetired(t *testing.T) {
	s, cases := writerSite(t)
	r := s.do("POST", governancePath+"/writers/w1/retire", `{"note":"moved"}`)
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, []string{"w1", "moved"}, []string{cases.id, cases.note})
	answer := r.json(t)
	require.Equal(t, "retired", answer["state"])
	require.Nil(t, answer["dueAt"], "it owes nothing")
	require.Equal(t, 400, s.do("POST", governancePath+"/writers/w1/retire", `{"notes":"x"}`).StatusCode)
}

func (u *useCases) SetDuplicateCommits(_ context.Context, _ policy.Caller, ref string, mode models.DuplicateMode) (models.TableState, error) {
	u.ref = ref
	state := u.state
	state.Table.DuplicateCommits = mode
	return state, u.fail
}

func TestDuplicateCommitsAreRefusedOrTaken(t *testing.T) {
	s := newSite(t)
	require.Equal(t, "audit", s.do("GET", governancePath+"/tables/main.a.t", "").json(t)["duplicateCommits"], "what a table has that says nothing")
	r := s.do("PUT", governancePath+"/tables/main.a.t/duplicate-commits", `{"mode":"reject"}`)
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "main.a.t", s.ref)
	require.Equal(t, "reject", r.json(t)["duplicateCommits"])
	for _, body := range []string{`{}`, `{"mode":"deny"}`, `{"mode":"reject","for":"1h"}`} {
		require.Equal(t, 400, s.do("PUT", governancePath+"/tables/main.a.t/duplicate-commits", body).StatusCode, body)
	}
}

// checked is what the fake finds when a table is checked.
func checked(metadata core.Standing, lastGood *int64, snapshots ...core.SnapshotCheck) core.TableCheckup {
	return core.TableCheckup{Ref: "main.a.t", UUID: "u1", MetadataLocation: "s3://b/m", Metadata: metadata, Snapshots: snapshots, LastGood: lastGood}
}

func (u *useCases) CheckTable(_ context.Context, _ policy.Caller, ref string) (core.TableCheckup, error) {
	u.ref = ref
	return u.checkup, u.fail
}

func TestATableIsChecked(t *testing.T) {
	s := newSite(t)
	good := int64(9007199254740993)
	whole := core.SnapshotCheck{ID: good, At: now, OnMain: true, ManifestList: "s3://b/l1", List: core.FileThere}
	for name, c := range map[string]struct {
		checkup core.TableCheckup
		ok      bool
		state   string // of the newest snapshot
		remedy  string
	}{
		"whole":              {checked(core.FileThere, &good, whole), true, "there", ""},
		"empty":              {checked(core.FileThere, nil), true, "", ""},
		"a list is gone":     {checked(core.FileThere, &good, core.SnapshotCheck{ID: 2, List: core.FileMissing, OnMain: true}, whole), false, "missing", "9007199254740993"},
		"a manifest is gone": {checked(core.FileThere, &good, core.SnapshotCheck{ID: 2, List: core.FileThere, Missing: []string{"s3://b/m1"}}, whole), false, "missing", "9007199254740993"},
		"all is gone":        {checked(core.FileThere, nil, core.SnapshotCheck{ID: 2, List: core.FileMissing}), false, "missing", "no snapshot"},
		"the store is out":   {checked(core.FileUnknown, nil, core.SnapshotCheck{ID: 2, List: core.FileUnknown}), false, "unknown", ""},
		"metadata is gone":   {checked(core.FileMissing, nil), false, "", "Restore"},
	} {
		t.Run(name, func(t *testing.T) {
			s.checkup = c.checkup
			answer := s.do("GET", governancePath+"/tables/main.a.t/check", "").json(t)
			require.Equal(t, c.ok, answer["ok"])
			remedy, _ := answer["remedy"].(string)
			require.Contains(t, remedy, c.remedy)
			require.Equal(t, c.remedy == "", remedy == "")
			if snapshots := answer["snapshots"].([]any); len(snapshots) > 0 {
				require.Equal(t, c.state, snapshots[0].(map[string]any)["state"])
			}
		})
	}
	s.checkup = checked(core.FileThere, &good, whole)
	require.JSONEq(t, `{"ok":true,"ref":"main.a.t","uuid":"u1","metadataLocation":"s3://b/m","metadata":"there","lastGoodSnapshotId":"9007199254740993",
		"snapshots":[{"id":"9007199254740993","committedAt":"2026-03-01T12:00:00Z","onMain":true,"state":"there","manifestList":"s3://b/l1"}]}`,
		string(s.do("GET", governancePath+"/tables/main.a.t/check", "").body))
}
