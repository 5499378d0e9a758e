package storetest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func auditCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"an event is read as it was written": func(t *testing.T, f *fixture) {
			e := models.AuditEvent{
				EventID: uuid.NewString(), Type: models.AuditCommitDenied, At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
				Principal: "ada", TokenID: "t", Catalog: "main", Namespace: "sales", Table: "sales.orders", TableUUID: "u",
				SnapshotID: ptr(int64(-1)), Reason: "the policy", RequestID: "r", Address: "10.0.0.1",
				Details: models.JSON[map[string]any]{V: map[string]any{"rule": "policy"}}, DedupeKey: ptr("once"),
			}
			require.NoError(t, f.s.AppendAudit(t.Context(), e))
			got := f.audit(t, models.AuditCommitDenied)
			require.Len(t, got, 1)
			e.ID = got[0].ID
			assert.Equal(t, e, got[0])
		},
		"a dedupe key is used once, other events as often as they come": func(t *testing.T, f *fixture) {
			for range 3 {
				e := event(models.AuditTableRenamed)
				e.DedupeKey = ptr("the same")
				require.NoError(t, f.s.AppendAudit(t.Context(), e))
				require.NoError(t, f.s.AppendAudit(t.Context(), event(models.AuditTableDropped)))
			}
			assert.Len(t, f.audit(t, models.AuditTableRenamed), 1)
			assert.Len(t, f.audit(t, models.AuditTableDropped), 3)
		},
		"an event without id or time gets them": func(t *testing.T, f *fixture) {
			for range 2 {
				require.NoError(t, f.s.AppendAudit(t.Context(), models.AuditEvent{Type: models.AuditRequestDenied}))
			}
			got := f.audit(t, models.AuditRequestDenied)
			require.Len(t, got, 2)
			assert.NotEqual(t, got[0].EventID, got[1].EventID)
			assert.WithinRange(t, got[0].At, f.started, f.started.Add(time.Minute))
		},
		"what a client sent cannot make an event large": largeEvents,
		"filters narrow and pages follow":               auditFilters,
	}
}

func largeEvents(t *testing.T, f *fixture) {
	long, many := strings.Repeat("ü", 1<<20), make([]any, 1<<16)
	wide := map[string]any{}
	for i := range many {
		many[i] = map[string]any{"name": long[:100]}
		wide[strconv.Itoa(i)] = long[:100]
	}
	for name, c := range map[string]struct {
		details   map[string]any
		truncated any // nil: the details are read as they were written
	}{
		"small":    {map[string]any{"rule": "policy", "count": json.Number("9007199254740993")}, nil},
		"text":     {map[string]any{"rule": "policy", "name": long}, true},
		"list":     {map[string]any{"rule": "policy", "files": many}, true},
		"object":   {map[string]any{"rule": "policy", "actions": wide}, true},
		"key":      {map[string]any{"rule": "policy", "inner": map[string]any{long: 1}}, true},
		"many":     {wide, true},
		"long key": {map[string]any{long: "x"}, true},
		"deep":     {map[string]any{"from": map[string]any{"columns": wide}, "rule": "policy", "to": map[string]any{"columns": wide}}, true},
	} {
		e := event(models.AuditCommitDenied)
		e.EventID, e.Details.V, e.Reason, e.Table = uuid.NewString(), c.details, long, "sales.orders"
		require.NoError(t, f.s.AppendAudit(t.Context(), e), name)
		got := f.audit(t, models.AuditCommitDenied)[0]
		text, err := json.Marshal(got.Details.V)
		require.NoError(t, err)
		assert.Less(t, len(text)+len(got.Reason), 24<<10, name)
		assert.Equal(t, c.truncated, got.Details.V["truncated"], name)
		assert.True(t, strings.HasPrefix(got.Reason, "üü"), "its beginning is kept")
		if c.details["rule"] != nil {
			assert.Equal(t, "policy", got.Details.V["rule"], name)
		}
	}
}

func auditFilters(t *testing.T, f *fixture) {
	base := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 6 {
		e := event(models.AuditRequestDenied)
		e.At = base.Add(time.Duration(i) * time.Hour)
		e.Principal = []string{"bob", "eve"}[i%2]
		e.Table = []string{"a.x", "a.y", "a.z"}[i%3]
		e.TableUUID = e.Table + "-uuid"
		e.Catalog = "other"
		require.NoError(t, f.s.AppendAudit(t.Context(), e))
	}
	for name, c := range map[string]struct {
		filter models.AuditFilter
		want   int
	}{
		"type":         {models.AuditFilter{Type: models.AuditRequestDenied}, 6},
		"principal":    {models.AuditFilter{Principal: "eve"}, 3},
		"table uuid":   {models.AuditFilter{TableUUID: "a.x-uuid", Table: "ignored"}, 2},
		"table":        {models.AuditFilter{Table: "a.y"}, 2},
		"catalog":      {models.AuditFilter{Catalog: "other"}, 6},
		"since":        {models.AuditFilter{Catalog: "other", Since: base.Add(4 * time.Hour)}, 2},
		"all together": {models.AuditFilter{Type: models.AuditRequestDenied, Principal: "bob", Table: "a.x", Catalog: "other", Since: base}, 1},
		"nothing":      {models.AuditFilter{Principal: "nobody\x00"}, 0},
	} {
		got, err := f.s.AuditEvents(t.Context(), c.filter)
		require.NoError(t, err)
		assert.Len(t, got, c.want, name)
	}
	first, err := f.s.AuditEvents(t.Context(), models.AuditFilter{Catalog: "other", Limit: 4})
	require.NoError(t, err)
	require.Len(t, first, 4)
	assert.Greater(t, first[0].ID, first[3].ID, "newest first")
	rest, err := f.s.AuditEvents(t.Context(), models.AuditFilter{Catalog: "other", Limit: 4, Before: first[3].ID})
	require.NoError(t, err)
	assert.Len(t, rest, 2)
}
