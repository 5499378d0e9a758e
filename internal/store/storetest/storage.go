package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func storageSecretCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"secrets are kept as they were sealed, and go": func(t *testing.T, f *fixture) {
			ctx, sealed := t.Context(), []byte{0, 1, 0xff}
			assert.Empty(t, f.catalog(t).StorageSecrets)
			f.raises(t, "set", func() error {
				return f.s.SetStorageSecrets(ctx, f.cat.ID, f.cat.Version, sealed, event(models.AuditStorageSecretsChanged))
			})
			cat := f.catalog(t)
			assert.Equal(t, sealed, cat.StorageSecrets)
			assert.Equal(t, f.cat.Version+1, cat.Version)

			cat.DefaultWritePolicy = models.OpenFull
			f.leaves(t, "a change of something else", func() error { return f.s.UpdateCatalog(ctx, cat, event(models.AuditCatalogUpdated)) })
			cat = f.catalog(t)
			assert.Equal(t, sealed, cat.StorageSecrets, "an update leaves them")

			f.raises(t, "removed", func() error {
				return f.s.SetStorageSecrets(ctx, cat.ID, cat.Version, nil, event(models.AuditStorageSecretsChanged))
			})
			assert.Empty(t, f.catalog(t).StorageSecrets)
			assert.Len(t, f.audit(t, models.AuditStorageSecretsChanged), 2)
		},
		"what was changed meanwhile is a conflict, what is gone is not found": func(t *testing.T, f *fixture) {
			err := f.s.SetStorageSecrets(t.Context(), f.cat.ID, f.cat.Version+7, []byte{1}, event(models.AuditStorageSecretsChanged))
			requireFault(t, err, fault.Conflict, fault.NoSubject)
			err = f.s.SetStorageSecrets(t.Context(), uuid.NewString(), 1, []byte{1}, event(models.AuditStorageSecretsChanged))
			requireFault(t, err, fault.NotFound, fault.Catalog)
			assert.Empty(t, f.audit(t, models.AuditStorageSecretsChanged))
		},
		"how a catalog is stored raises the version of access": func(t *testing.T, f *fixture) {
			for what, change := range map[string]func(*models.Catalog){
				"base":    func(c *models.Catalog) { c.BaseLocation = "s3://other" },
				"allowed": func(c *models.Catalog) { c.AllowedLocations.V = []string{"s3://more"} },
				"storage": func(c *models.Catalog) { c.Storage.V.Endpoint = "http://other" },
			} {
				f.raises(t, what, func() error {
					cat := f.catalog(t)
					change(&cat)
					return f.s.UpdateCatalog(t.Context(), cat, event(models.AuditCatalogUpdated))
				})
			}
			f.leaves(t, "properties", func() error {
				cat := f.catalog(t)
				cat.Properties.V = map[string]string{"owner": "data"}
				return f.s.UpdateCatalog(t.Context(), cat, event(models.AuditCatalogUpdated))
			})
		},
	}
}

func (f *fixture) catalog(t *testing.T) models.Catalog {
	t.Helper()
	cat, err := f.s.CatalogByID(t.Context(), f.cat.ID)
	require.NoError(t, err)
	return cat
}

func storageRecordCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"each use is counted once":              recordsCount,
		"they are given page by page":           recordsPage,
		"those that nobody adds to go":          recordsAge,
		"of eight at once none is lost":         recordsRace,
		"what a client sent cannot break them":  recordsClean,
		"they are of the tables of one catalog": recordsOfCatalog,
	}
}

func (f *fixture) access(t *testing.T, table, token string, mode models.DelegationMode, at time.Time) {
	t.Helper()
	require.NoError(t, f.s.RecordAccess(t.Context(), models.StorageRecord{TableID: table, TokenID: token, Mode: mode, Principal: "ada", LastAt: at}))
}

func (f *fixture) records(t *testing.T, filter models.StorageRecordFilter) []models.StorageRecord {
	t.Helper()
	rows, err := f.s.StorageRecords(t.Context(), filter)
	require.NoError(t, err)
	out := make([]models.StorageRecord, len(rows))
	for i, r := range rows {
		out[i] = r.StorageRecord
		out[i].FirstAt, out[i].LastAt = r.FirstAt.UTC(), r.LastAt.UTC()
	}
	return out
}

func recordsCount(t *testing.T, f *fixture) {
	later := f.started.Add(time.Minute)
	f.access(t, "t1", "k1", models.VendedAccess, f.started)
	f.access(t, "t1", "k1", models.VendedAccess, later)
	f.access(t, "t1", "k1", models.VendedAccess, f.started.Add(time.Second)) // by another clock
	f.access(t, "t1", "k1", models.UndelegatedAccess, later)
	assert.Equal(t, []models.StorageRecord{
		{TableID: "t1", TokenID: "k1", Mode: models.UndelegatedAccess, Principal: "ada", FirstAt: later, LastAt: later, Count: 1},
		{TableID: "t1", TokenID: "k1", Mode: models.VendedAccess, Principal: "ada", FirstAt: f.started, LastAt: later, Count: 3},
	}, f.records(t, models.StorageRecordFilter{}))
}

func recordsPage(t *testing.T, f *fixture) {
	for _, table := range []string{"t1", "t2"} {
		for _, token := range []string{"k1", "k2"} {
			f.access(t, table, token, models.SignedAccess, f.started)
			f.access(t, table, token, models.VendedAccess, f.started)
		}
	}
	assert.Len(t, f.records(t, models.StorageRecordFilter{TableID: "t1"}), 4)
	var seen []models.StorageRecord
	for after := (models.StorageRecord{}); ; after = seen[len(seen)-1] {
		page := f.records(t, models.StorageRecordFilter{After: after, Limit: 3})
		if len(page) == 0 {
			break
		}
		seen = append(seen, page...)
	}
	assert.Equal(t, f.records(t, models.StorageRecordFilter{}), seen)
	assert.Len(t, seen, 8)
}

func recordsAge(t *testing.T, f *fixture) {
	f.access(t, "old", "k", models.VendedAccess, f.started.Add(-31*24*time.Hour))
	f.access(t, "kept", "k", models.VendedAccess, f.started.Add(-29*24*time.Hour))
	f.access(t, "new", "k", models.VendedAccess, f.started)
	assert.Empty(t, f.records(t, models.StorageRecordFilter{TableID: "old"}))
	assert.Len(t, f.records(t, models.StorageRecordFilter{}), 2)
}

func recordsRace(t *testing.T, f *fixture) {
	together(8, func(int) { f.access(t, "t", "k", models.SignedAccess, f.started) })
	rows := f.records(t, models.StorageRecordFilter{})
	require.Len(t, rows, 1)
	assert.EqualValues(t, 8, rows[0].Count)
}

func recordsClean(t *testing.T, f *fixture) {
	f.access(t, "t", "k\x00\xff", models.SignedAccess, f.started)
	assert.Len(t, f.records(t, models.StorageRecordFilter{After: models.StorageRecord{TableID: "a", TokenID: "\x00\xff"}}), 1)
}

func recordsOfCatalog(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.otherCatalog(t, "second")
	f.access(t, row.ID, "k", models.SignedAccess, f.started)
	f.access(t, "gone", "k", models.SignedAccess, f.started)
	assert.Len(t, f.records(t, models.StorageRecordFilter{CatalogID: f.cat.ID}), 1)
	assert.Empty(t, f.records(t, models.StorageRecordFilter{CatalogID: other.cat.ID}))

	rows, err := f.s.StorageRecords(t.Context(), models.StorageRecordFilter{TableID: row.ID})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assert.Equal(t, []any{"main", f.ns.Key, "orders", row.UUID}, []any{rows[0].CatalogName, rows[0].NamespaceKey, rows[0].TableName, rows[0].TableUUID})
	rows, err = f.s.StorageRecords(t.Context(), models.StorageRecordFilter{TableID: "gone"})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assert.Empty(t, rows[0].TableName)
}
