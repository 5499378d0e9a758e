package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// findingCases stands in for the use cases of findings: it keeps what it was asked last.
type findingCases struct {
	rows     []models.Finding
	ref      string
	filter   models.FindingFilter
	id, note string
	fail     error
}

// Findings implements governance.Findings.
func (c *findingCases) Findings(_ context.Context, _ policy.Caller, ref string, f models.FindingFilter) ([]models.Finding, error) {
	c.ref, c.filter = ref, f
	return c.rows, c.fail
}

// ResolveFinding implements governance.Findings.
func (c *findingCases) ResolveFinding(_ context.Context, _ policy.Caller, id, note string) (models.Finding, error) {
	c.id, c.note = id, note
	at := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	return models.Finding{ID: id, Kind: models.FindingFileChanged, Note: note, ResolvedBy: "ada", ResolvedAt: &at}, c.fail
}

func findingSite(t *testing.T) (*site, *findingCases) {
	t.Helper()
	cases := &findingCases{}
	return newSite(t, func(d *api.Deps) { d.Governance.Findings = cases }), cases
}

func TestFindingsAreListed(t *testing.T) {
	s, cases := findingSite(t)
	at := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	snapshot := int64(9007199254740993)
	finding := models.Finding{
		ID: "f1", Kind: models.FindingFileChanged, Severity: models.High, Catalog: "main", Table: "sales.orders", TableUUID: "u1",
		SnapshotID: &snapshot, Principal: "etl", Subject: "s3://lake/f", FirstSeenAt: at, LastSeenAt: at.Add(time.Hour),
	}
	finding.Evidence.V = models.FileEvidence{File: "s3://lake/f", Snapshot: "9007199254740993", Then: models.FileState{Size: 3, ETag: "a"}, Now: &models.FileState{Size: 4, ETag: "b"}}.Members()
	cases.rows = []models.Finding{finding}
	r := s.do("GET", governancePath+"/findings?table=main.sales.orders&kind=file_changed&open=true&limit=1&after=f9", "")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "main.sales.orders", cases.ref)
	open := true
	require.Equal(t, models.FindingFilter{Kind: models.FindingFileChanged, Open: &open, Before: "f9", Limit: 1}, cases.filter)
	require.JSONEq(t, `{"items":[{"id":"f1","kind":"file_changed","severity":"high","ref":"main.sales.orders","catalog":"main","table":"sales.orders",
		"tableUuid":"u1","snapshotId":"9007199254740993","principal":"etl","subject":"s3://lake/f",
		"evidence":{"file":"s3://lake/f","snapshot":"9007199254740993","then":{"size":3,"etag":"a"},"now":{"size":4,"etag":"b"}},
		"firstSeenAt":"2026-03-01T11:00:00Z","lastSeenAt":"2026-03-01T12:00:00Z","open":true,"resolvedAt":null}],"next":"f1"}`, string(r.body))

	cases.rows = nil
	require.JSONEq(t, `{"items":[]}`, string(s.do("GET", governancePath+"/findings", "").body))
	require.Nil(t, cases.filter.Open)
	for query, says := range map[string]string{
		"kind=file_change": "file_changed", "open=maybe": "true or false", "limit=0": "limit", "tabel=x": "tabel", "open=true&open=false": "more than once",
	} {
		r := s.do("GET", governancePath+"/findings?"+query, "")
		require.Equal(t, 400, r.StatusCode, query)
		require.Contains(t, string(r.body), says)
	}
	cases.fail = fault.New(fault.Forbidden, "Not yours.")
	require.Equal(t, 403, s.do("GET", governancePath+"/findings", "").StatusCode)
	require.Equal(t, 401, s.do("GET", governancePath+"/findings", "", "Authorization", "").StatusCode)
}

func TestAFindingIsResolved(t *testing.T) {
	s, cases := findingSite(t)
	const path = governancePath + "/findings/f1/resolve"
	r := s.do("POST", path, `{"note":"repaired by hand"}`)
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, []string{"f1", "repaired by hand"}, []string{cases.id, cases.note})
	answer := r.json(t)
	require.Equal(t, []any{false, "ada", "repaired by hand", "2026-03-01T11:00:00Z"}, []any{answer["open"], answer["resolvedBy"], answer["note"], answer["resolvedAt"]})
	require.Equal(t, 200, s.do("POST", path, `{}`).StatusCode)
	for _, body := range []string{``, `[]`, `{"note":7}`, `{"notes":"x"}`, `{"note":"a\u0007"}`, `{"note":"` + strings.Repeat("x", 1001) + `"}`} {
		require.Equal(t, 400, s.do("POST", path, body).StatusCode, body)
	}
	cases.fail = fault.New(fault.NotFound, "There is no finding.")
	require.Equal(t, 404, s.do("POST", path, `{}`).StatusCode)
}
