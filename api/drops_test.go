package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// dropCalls is what the use cases of drops were asked last.
type dropCalls struct {
	protected *bool
	filter    models.DroppedFilter
	as        *models.TableIdent
}

func (u *useCases) UnregisterTable(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent) (core.TableView, error) {
	u.ident = ident
	return u.view(ident)
}

func (u *useCases) SetProtection(_ context.Context, _ policy.Caller, ref string, protected bool) (models.TableState, error) {
	u.ref, u.drops.protected = ref, &protected
	state := u.state
	state.Table.Protected = protected
	return state, u.fail
}

func (u *useCases) DroppedTables(_ context.Context, _ policy.Caller, catalog string, f models.DroppedFilter) (core.ListPage[core.DroppedView], error) {
	u.ref, u.drops.filter = catalog, f
	after := now.Add(time.Hour)
	d := models.DroppedTable{
		ID: "d-1", TableUUID: "u-1", NamespaceKey: models.KeyOf([]string{"a", "b"}), Name: "t", State: models.StateDropped,
		DroppedAt: now, ChangedAt: now, DroppedBy: "etl", PurgeRequested: true, PurgeAfter: &after, Location: "s3://b/t", MetadataLocation: "s3://b/t/m",
	}
	return core.ListPage[core.DroppedView]{Items: []core.DroppedView{{DroppedTable: d, CatalogName: "main"}}, Next: "d-1"}, u.fail
}

func (u *useCases) UndropTable(_ context.Context, _ policy.Caller, id string, as *models.TableIdent) (models.TableState, error) {
	u.ref, u.drops.as = id, as
	return u.state, u.fail
}

func (u *useCases) ForgetTable(_ context.Context, _ policy.Caller, id string) error {
	u.ref = id
	return u.fail
}

func TestUnregister(t *testing.T) {
	s := newSite(t)
	ident := models.TableIdent{Namespace: []string{"a"}, Name: "t"}
	s.addTable(t, ident, "s3://b/t/metadata/00001.metadata.json", document(2))
	r := s.do("POST", iceberg+"/namespaces/a/tables/t/unregister", "")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, ident, s.ident)
	require.Equal(t, "s3://b/t/metadata/00001.metadata.json", r.json(t)["metadata-location"])
	require.Contains(t, string(r.body), string(document(2)))

	s.fail = fault.About(fault.Forbidden, fault.Table, "Table a.t is protected.")
	r = s.do("POST", iceberg+"/namespaces/a/tables/t/unregister", "")
	kind, _ := r.failure(t)
	require.Equal(t, 403, r.StatusCode)
	require.Equal(t, "ForbiddenException", kind)
	require.Contains(t, string(s.do("GET", "/api/catalog/v1/config", "").body), "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister")
}

func TestProtection(t *testing.T) {
	s := newSite(t)
	for body, want := range map[string]bool{`{"protected":true}`: true, `{"protected":false}`: false} {
		r := s.do("PUT", governancePath+"/tables/main.a.t/protection", body)
		require.Equal(t, 200, r.StatusCode)
		require.Equal(t, "main.a.t", s.ref)
		require.Equal(t, want, *s.drops.protected)
		require.Equal(t, want, r.json(t)["protected"])
	}
	for body, says := range map[string]string{`{}`: `"protected" is required`, `{"protected":"yes"}`: "true or false", `{"protect":true}`: "is unknown"} {
		r := s.do("PUT", governancePath+"/tables/main.a.t/protection", body)
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode)
		require.Contains(t, message, says)
	}
}

func TestDroppedTables(t *testing.T) {
	s := newSite(t)
	r := s.do("GET", governancePath+"/dropped-tables?catalog=main&limit=1&after=d-9", "")
	require.Equal(t, "main", s.ref)
	require.Equal(t, models.DroppedFilter{Before: "d-9", Limit: 1}, s.drops.filter)
	require.JSONEq(t, `{"items":[{"id":"d-1","uuid":"u-1","ref":"main.a.b.t","catalog":"main","namespace":["a","b"],"name":"t","state":"dropped",
		"droppedAt":"2026-03-01T12:00:00Z","droppedBy":"etl","purgeRequested":true,"purgeAfter":"2026-03-01T13:00:00Z","changedAt":"2026-03-01T12:00:00Z",
		"purgedFiles":null,"purgedBytes":null,"location":"s3://b/t","metadataLocation":"s3://b/t/m"}],"next":"d-1"}`, string(r.body))
	s.do("GET", governancePath+"/dropped-tables?state=purged", "")
	require.Equal(t, []models.DropState{models.StatePurged}, s.drops.filter.States)
	s.do("GET", governancePath+"/dropped-tables?state=all", "")
	require.Len(t, s.drops.filter.States, 7)
	r = s.do("GET", governancePath+"/dropped-tables?state=lost", "")
	_, message := r.failure(t)
	require.Equal(t, 400, r.StatusCode)
	require.Contains(t, message, "purging")
}

func TestUndropAndForget(t *testing.T) {
	s := newSite(t)
	require.Equal(t, 200, s.do("POST", governancePath+"/dropped-tables/d-1/undrop", "").StatusCode)
	require.Equal(t, "d-1", s.ref)
	require.Nil(t, s.drops.as)
	require.Equal(t, 200, s.do("POST", governancePath+"/dropped-tables/d-1/undrop", `{}`).StatusCode)
	require.Nil(t, s.drops.as)
	require.Equal(t, 200, s.do("POST", governancePath+"/dropped-tables/d-1/undrop", `{"name":"a.b.back"}`).StatusCode)
	require.Equal(t, &models.TableIdent{Namespace: []string{"a", "b"}, Name: "back"}, s.drops.as)
	for _, name := range []string{`"t"`, `"a..t"`, `".t"`, `"a."`, `1`} {
		r := s.do("POST", governancePath+"/dropped-tables/d-1/undrop", `{"name":`+name+`}`)
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, name)
		require.Contains(t, message, `"name"`)
	}
	require.Equal(t, http.StatusNoContent, s.do("POST", governancePath+"/dropped-tables/d-1/forget", "").StatusCode)
	s.fail = fault.About(fault.Conflict, fault.Table, "The dropped table a.t is being purged now.")
	require.Equal(t, http.StatusConflict, s.do("POST", governancePath+"/dropped-tables/d-1/forget", "").StatusCode)
	s.fail = fault.About(fault.AlreadyExists, fault.Table, "Table already exists: a.t")
	require.Equal(t, http.StatusConflict, s.do("POST", governancePath+"/dropped-tables/d-1/undrop", "").StatusCode)
}
