package findings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func streaming() models.NamedWriter {
	last, snapshot := noon().Add(-time.Hour), int64(42)
	w := models.NamedWriter{CatalogName: "main", TableWriter: models.TableWriter{
		ID: "w1", CatalogID: "c", TableID: "t", Table: "db.t", Kind: models.FlinkWriter, Key: "op", Principal: "ada", Engine: "flink", Job: "j1",
		TokenID: "tok", LastCommit: &snapshot, LastCommitAt: &last, Median: 60_000, Spread: 500, State: models.WriterActive,
	}}
	w.Watermark.V = map[string]int64{"checkpoint": 12}
	return w
}

func TestStalled(t *testing.T) {
	e := findings.StallEvidence{Now: noon(), Due: noon().Add(-55 * time.Minute)}
	f := findings.Stalled(streaming(), e)
	assert.Equal(t, models.FindingStalledWriter, f.Kind)
	assert.Equal(t, models.High, f.Severity)
	assert.Equal(t, "w1", f.WriterID)
	assert.Equal(t, "flink writer op of ada", f.Subject)
	assert.EqualValues(t, 42, *f.SnapshotID)
	assert.Equal(t, "late", f.Evidence.V["state"])
	assert.Equal(t, "2026-03-01T11:00:00Z", f.Evidence.V["lastCommitAt"])
	assert.Equal(t, "2026-03-01T11:05:00Z", f.Evidence.V["dueAt"])
	assert.Equal(t, map[string]any{"median": 60.0, "spread": 0.5}, f.Evidence.V["cadence"])
	assert.NotContains(t, f.Evidence.V, "arrivals", "nobody looked")
	assert.Contains(t, f.Evidence.V["remedy"], "sluice writers retire w1")

	never := streaming()
	never.Kind, never.LastCommit, never.LastCommitAt, never.Every = models.ExpectedWriter, nil, nil, 600_000
	f = findings.Stalled(never, e)
	assert.Equal(t, "never", f.Evidence.V["state"])
	assert.Equal(t, map[string]any{"every": 600.0}, f.Evidence.V["cadence"])
	assert.Contains(t, f.Evidence.V["remedy"], "Nothing has come")
	assert.Nil(t, f.SnapshotID)
}

// What is known decides what to do first.
func TestStallRemedies(t *testing.T) {
	expired := noon().Add(-time.Minute)
	files := findings.Arrivals{Looked: true, Files: 12, Bytes: 4096, Newest: noon()}
	refusals := []findings.Refusal{{At: noon(), Type: models.AuditCommitDenied, Reason: "No."}}
	for _, c := range []struct {
		name string
		w    func(*models.NamedWriter)
		e    findings.StallEvidence
		says string
	}{
		{"revoked", func(w *models.NamedWriter) { w.TokenGone = true }, findings.StallEvidence{Refusals: refusals}, "revoked"},
		{"expired", func(w *models.NamedWriter) { w.TokenExpiry = &expired }, findings.StallEvidence{}, "expired"},
		{"an access token is got anew", func(w *models.NamedWriter) { w.TokenExpiry, w.TokenKind = &expired, models.AccessToken }, findings.StallEvidence{}, "See whether"},
		{"refused", func(*models.NamedWriter) {}, findings.StallEvidence{Refusals: refusals, Arrivals: files}, "refused"},
		{"the table is closed", func(*models.NamedWriter) {}, findings.StallEvidence{Policy: models.GovernedOnly, Refusals: refusals}, "governed_only"},
		{"the table is open", func(*models.NamedWriter) {}, findings.StallEvidence{Policy: models.OpenAppend, Arrivals: files}, "does not commit them"},
		{"files without commits", func(*models.NamedWriter) {}, findings.StallEvidence{Arrivals: files}, "does not commit them"},
		{"nothing known", func(*models.NamedWriter) {}, findings.StallEvidence{}, "See whether"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := streaming()
			c.w(&w)
			c.e.Now = noon()
			assert.Contains(t, findings.Stalled(w, c.e).Evidence.V["remedy"], c.says)
		})
	}
	f := findings.Stalled(streaming(), findings.StallEvidence{Arrivals: files, Refusals: refusals})
	assert.Equal(t, map[string]any{"files": int64(12), "bytes": int64(4096), "partial": false, "newest": "2026-03-01T12:00:00Z"}, f.Evidence.V["arrivals"])
	assert.Equal(t, []any{map[string]any{"at": "2026-03-01T12:00:00Z", "type": "table.commit_denied", "reason": "No."}}, f.Evidence.V["refusals"])
}

func before(t time.Time, d time.Duration) *time.Time {
	t = t.Add(-d)
	return &t
}

func TestOfToken(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*models.NamedWriter, *time.Time)
		in   time.Duration
		want bool
	}{
		{"ends soon", func(*models.NamedWriter, *time.Time) {}, time.Hour, true},
		{"has ended", func(*models.NamedWriter, *time.Time) {}, -time.Hour, true},
		{"ends later", func(*models.NamedWriter, *time.Time) {}, 25 * time.Hour, false},
		{"an access token", func(w *models.NamedWriter, _ *time.Time) { w.TokenKind = models.AccessToken }, time.Hour, false},
		{"revoked", func(w *models.NamedWriter, _ *time.Time) { w.TokenGone = true }, time.Hour, false},
		{"made for one run", func(w *models.NamedWriter, end *time.Time) {
			w.Kind, w.TokenMinted = models.BatchWriter, before(*end, 24*time.Hour)
		}, time.Hour, false},
		{"made for one run of a writer that was declared", func(w *models.NamedWriter, end *time.Time) {
			w.Kind, w.Every, w.TokenMinted = models.ExpectedWriter, 60_000, before(*end, 24*time.Hour)
		}, time.Hour, false},
		{"a short one, of a stream", func(w *models.NamedWriter, end *time.Time) { w.TokenMinted = before(*end, 24*time.Hour) }, time.Hour, true},
		{"a long one, of a batch writer", func(w *models.NamedWriter, end *time.Time) {
			w.Kind, w.TokenMinted = models.BatchWriter, before(*end, 25*time.Hour)
		}, time.Hour, true},
		{"has ended, of a writer that nobody waits for", func(w *models.NamedWriter, _ *time.Time) { w.Kind = models.BatchWriter }, -time.Hour, false},
		{"has ended, of a writer that is waited for", func(w *models.NamedWriter, _ *time.Time) { w.Kind, w.Every = models.BatchWriter, 60_000 }, -time.Hour, true},
		{"of a retired writer", func(w *models.NamedWriter, _ *time.Time) { w.State = models.WriterRetired }, time.Hour, false},
		{"of one that is done", func(w *models.NamedWriter, _ *time.Time) { w.State = models.WriterFinished }, time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, end := streaming(), noon().Add(c.in)
			w.TokenKind, w.TokenExpiry = models.EngineToken, &end
			c.set(&w, &end)
			f, ok := findings.OfToken(w, noon(), 24*time.Hour)
			require.Equal(t, c.want, ok)
			if ok {
				assert.Equal(t, c.in < 0, f.Evidence.V["token"].(map[string]any)["expired"])
			}
		})
	}
	w := streaming()
	_, ok := findings.OfToken(w, noon(), 24*time.Hour)
	assert.False(t, ok, "it never ends")
}

func TestOfAccess(t *testing.T) {
	w := streaming()
	for _, mode := range []models.DelegationMode{"", models.VendedAccess, models.SignedAccess} {
		w.Mode = mode
		_, ok := findings.OfAccess(w)
		assert.False(t, ok, mode)
	}
	w.Mode = models.UndelegatedAccess
	f, ok := findings.OfAccess(w)
	require.True(t, ok)
	assert.Equal(t, models.Low, f.Severity)
	w.State = models.WriterRetired
	_, ok = findings.OfAccess(w)
	assert.False(t, ok)
}

func TestOfStaleIdentity(t *testing.T) {
	row := models.Table{ID: "t", CatalogID: "c", UUID: "new"}
	w := models.Writer{Principal: "ada", Engine: "flink", Address: "10.0.0.1"}
	f := findings.OfStaleIdentity(row, "old", w, map[string]string{"flink.job-id": "j", "flink.operator-id": "op", "flink.max-committed-checkpoint-id": "3"})
	assert.Equal(t, "flink writer op of ada", f.Subject)
	assert.Equal(t, "old", f.Evidence.V["claimedUuid"])
	assert.Equal(t, "new", f.Evidence.V["uuid"])
	assert.Equal(t, "checkpoint/3", f.Evidence.V["unit"])
	assert.NotEqual(t, f.SubjectKey, findings.OfStaleIdentity(row, "older", w, nil).SubjectKey)
	assert.Equal(t, f.SubjectKey, findings.OfStaleIdentity(row, "old", w, nil).SubjectKey, "once for each principal and identity")
}
