package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// storageCases stands in for the use cases of catalogs' storage: it keeps what it was asked last.
type storageCases struct {
	catalog string
	secrets *models.StorageSecrets
	steps   []models.StorageStep
	records []models.NamedStorageRecord
	ref     string
	filter  models.StorageRecordFilter
	fail    error
	asOf    bool // the request said which version of all rights its caller was found under
}

// SetStorageSecrets implements governance.Storage.
func (s *storageCases) SetStorageSecrets(_ context.Context, _ policy.Caller, catalog string, secrets models.StorageSecrets) error {
	s.catalog, s.secrets = catalog, &secrets
	return s.fail
}

// RemoveStorageSecrets implements governance.Storage.
func (s *storageCases) RemoveStorageSecrets(_ context.Context, _ policy.Caller, catalog string) error {
	s.catalog, s.secrets = catalog, nil
	return s.fail
}

// ValidateStorage implements governance.Storage.
func (s *storageCases) ValidateStorage(ctx context.Context, _ policy.Caller, catalog string) ([]models.StorageStep, error) {
	s.catalog = catalog
	_, s.asOf = policy.AsOf(ctx)
	return s.steps, s.fail
}

// StorageRecords implements governance.StorageRecords.
func (s *storageCases) StorageRecords(_ context.Context, _ policy.Caller, ref string, f models.StorageRecordFilter) ([]models.NamedStorageRecord, error) {
	s.ref, s.filter = ref, f
	return s.records, s.fail
}

func storageSite(t *testing.T) (*site, *storageCases) {
	t.Helper()
	cases := &storageCases{}
	return newSite(t, func(d *api.Deps) { d.Governance.Storage, d.Governance.Accesses = cases, cases }), cases
}

func TestStorageSecretsAreTakenAndNeverShown(t *testing.T) {
	s, cases := storageSite(t)
	const path = governancePath + "/catalogs/lake/storage-secrets"
	r := s.do("PUT", path, `{"accessKey":"AKIA","secretKey":"the-very-secret"}`)
	require.Equal(t, 204, r.StatusCode)
	require.Empty(t, r.body)
	require.Equal(t, "lake", cases.catalog)
	require.Equal(t, models.StorageSecrets{AccessKey: "AKIA", SecretKey: "the-very-secret"}, *cases.secrets)

	r = s.do("PUT", path, `{"accountKey":"a","clientId":"b","clientSecret":"c","serviceKey":"{}"}`)
	require.Equal(t, 204, r.StatusCode)
	require.Equal(t, models.StorageSecrets{AccountKey: "a", ClientID: "b", ClientSecret: "c", ServiceKey: "{}"}, *cases.secrets)

	require.Equal(t, 204, s.do("DELETE", path, "").StatusCode)
	require.Nil(t, cases.secrets)

	for _, body := range []string{``, `[]`, `{"accessKey":7}`, `{"secret":"the-very-secret"}`, `{"sessionToken":"x"}`} {
		r = s.do("PUT", path, body)
		require.Equal(t, 400, r.StatusCode, body)
		require.NotContains(t, string(r.body), "the-very-secret")
	}
	cases.fail = fault.New(fault.Forbidden, "Not yours.")
	require.Equal(t, 403, s.do("PUT", path, `{"secretKey":"the-very-secret"}`).StatusCode)
	require.Equal(t, 403, s.do("DELETE", path, "").StatusCode)
	s.stop()
	require.NotContains(t, s.log.String(), "the-very-secret")
}

func TestStorageIsValidated(t *testing.T) {
	s, cases := storageSite(t)
	cases.steps = []models.StorageStep{
		{Name: "put", OK: true, Detail: "An object could be written.", Took: 12345 * time.Microsecond},
		{Name: "sts", OK: true, Skipped: true, Detail: "There is none."},
	}
	const path = governancePath + "/catalogs/lake/storage/validate"
	r := s.do("POST", path, "")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"ok":true,"steps":[{"name":"put","ok":true,"detail":"An object could be written.","took":"12ms"},
		{"name":"sts","ok":true,"skipped":true,"detail":"There is none.","took":"0s"}]}`, string(r.body))
	require.True(t, cases.asOf)
	cases.steps[0].OK = false
	require.Equal(t, false, s.do("POST", path, "").json(t)["ok"])
	cases.steps = nil
	require.JSONEq(t, `{"ok":true,"steps":[]}`, string(s.do("POST", path, "").body))
}

func TestStorageAccessIsListed(t *testing.T) {
	s, cases := storageSite(t)
	at := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	record := models.StorageRecord{TableID: "t1", TokenID: "k1", Mode: models.UndelegatedAccess, Principal: "etl", FirstAt: at, LastAt: at.Add(time.Hour), Count: 3}
	cases.records = []models.NamedStorageRecord{
		{StorageRecord: record, CatalogName: "main", NamespaceKey: models.KeyOf([]string{"sales", "eu"}), TableName: "orders", TableUUID: "u1"},
		{StorageRecord: models.StorageRecord{TableID: "t2", TokenID: "k2", Mode: models.VendedAccess}},
	}
	r := s.do("GET", governancePath+"/storage-access?table=main.sales.eu.orders&limit=2", "")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "main.sales.eu.orders", cases.ref)
	require.Equal(t, 2, cases.filter.Limit)
	answer := r.json(t)
	items, _ := answer["items"].([]any)
	require.Equal(t, map[string]any{
		"ref": "main.sales.eu.orders", "tableUuid": "u1", "tableId": "t1", "tokenId": "k1", "principal": "etl", "mode": "undelegated",
		"firstAt": "2026-03-01T11:00:00Z", "lastAt": "2026-03-01T12:00:00Z", "count": 3.0,
	}, items[0])
	require.NotContains(t, items[1], "ref", "its table is gone")

	next, _ := answer["next"].(string)
	require.NotEmpty(t, next)
	require.Equal(t, 200, s.do("GET", governancePath+"/storage-access?after="+next, "").StatusCode)
	require.Equal(t, models.StorageRecord{TableID: "t2", TokenID: "k2", Mode: models.VendedAccess}, cases.filter.After)
	for _, query := range []string{"?after=%21", "?after=YWJj", "?limit=0", "?principal=etl"} {
		require.Equal(t, 400, s.do("GET", governancePath+"/storage-access"+query, "").StatusCode, query)
	}
}
