package api_test

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	iceberggo "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/access"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// lakeSite is the router over the real use cases, a SQLite file and a warehouse folder. Everybody is root.
type lakeSite struct {
	*core.Service
	cat  models.Catalog
	root policy.Caller
	url  string
}

func (l *lakeSite) Authenticate(context.Context, string) (policy.Caller, error) { return l.root, nil }

func newLakeSite(t *testing.T, pages ...scan.Option) *lakeSite {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	db, err := store.Open(ctx, store.Config{URL: filepath.Join(dir, "sluice.db") + "?synchronous=normal"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, store.Migrate(ctx, db))
	warehouse := "file://" + filepath.Join(dir, "warehouse")
	files, err := objects.Open(ctx, objects.Config{Roots: []string{warehouse}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = files.Close() })
	boot, _ := access.NewBootstrap("main", []string{warehouse}, models.OpenAppend, time.Now().UTC())
	require.NoError(t, db.Bootstrap(ctx, boot))
	l := &lakeSite{Service: core.New(core.Deps{
		Store: db, Reports: db, Files: files, Locations: objects.Rules{}, Inspector: reconcile.NewInspector(files, objects.WithinStrings),
		Now: func() time.Time { return time.Now().UTC() }, ReservedPrefix: "sluice.", CacheBytes: 1 << 20,
	})}
	l.cat, err = db.CatalogByName(ctx, "main")
	require.NoError(t, err)
	root, err := db.PrincipalByName(ctx, models.RootPrincipal)
	require.NoError(t, err)
	roles, err := db.RolesOfPrincipal(ctx, root.ID)
	require.NoError(t, err)
	require.Len(t, roles, 1)
	grants, err := db.GrantsOfRoles(ctx, []string{roles[0].ID})
	require.NoError(t, err)
	l.root = policy.Caller{PrincipalID: root.ID, Principal: root.Name, TokenID: "t", CatalogID: l.cat.ID, CanGovern: true, Clearance: root.Clearance, Held: policy.NewHeld(nil, grants)}

	u := newUseCases()
	d := deps(u, t.Output())
	d.Authenticator, d.Catalog.Resolver, d.Catalog.Namespaces, d.Catalog.Tables = l, l, l, l
	d.Catalog.Commits, d.Catalog.Readable, d.Catalog.Metrics, d.Catalog.Storage = l, l, l, l
	d.Catalog.Scans = scan.New(files, pages...)
	server := httptest.NewServer(api.Router(d))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// fill makes the table db.t with commits of three files each.
func (l *lakeSite) fill(t *testing.T, commits int) {
	t.Helper()
	ctx, at := t.Context(), models.TableIdent{Namespace: []string{"db"}, Name: "t"}
	_, err := l.CreateNamespace(ctx, l.root, l.cat, core.NamespaceInput{Levels: at.Namespace})
	require.NoError(t, err)
	_, err = l.CreateTable(ctx, l.root, l.cat, core.CreateTableInput{Namespace: at.Namespace, Name: at.Name,
		Schema: []byte(`{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"}]}`)})
	require.NoError(t, err)
	for range commits {
		view, err := l.LoadTable(ctx, l.root, l.cat, at)
		require.NoError(t, err)
		now, err := icebergtest.Parse(view.Document.Bytes())
		require.NoError(t, err)
		c, err := icebergtest.LocalFiles().Append(now, 3, 10)
		require.NoError(t, err)
		requirements, err := metadata.DecodeRequirements(c.Requirements)
		require.NoError(t, err)
		updates, err := metadata.DecodeUpdates(c.Updates)
		require.NoError(t, err)
		_, err = l.CommitTable(ctx, l.root, l.cat, core.CommitInput{Table: at, Requirements: requirements, Updates: updates})
		require.NoError(t, err)
	}
}

// TestAnEngineMayLetTheServerPlan plans by iceberg-go's REST client, remotely and by itself: the same files in both ways,
// over several pages.
func TestAnEngineMayLetTheServerPlan(t *testing.T) {
	l := newLakeSite(t, scan.WithPages(4, 100))
	l.fill(t, 5)
	client, err := rest.NewCatalog(t.Context(), "main", l.url+"/api/catalog", rest.WithOAuthToken("any"))
	require.NoError(t, err)
	require.True(t, client.SupportsFullRemoteScanPlanning(), "the configuration offers all routes of planning")
	tbl, err := client.LoadTable(t.Context(), table.Identifier{"db", "t"})
	require.NoError(t, err)

	files := func(mode table.ScanPlanningMode, filter iceberggo.BooleanExpression) []string {
		tasks, err := tbl.Scan(table.WithScanPlanningMode(mode), table.WithRowFilter(filter)).PlanFiles(t.Context())
		require.NoError(t, err)
		var out []string
		for _, task := range tasks {
			out = append(out, task.File.FilePath())
		}
		slices.Sort(out)
		return out
	}
	for _, filter := range []iceberggo.BooleanExpression{
		iceberggo.AlwaysTrue{}, iceberggo.GreaterThan(iceberggo.Reference("id"), int64(3)), iceberggo.IsNull(iceberggo.Reference("id")),
	} {
		require.Equal(t, files(table.ScanPlanningLocal, filter), files(table.ScanPlanningRemote, filter), "%s", filter)
	}
	require.Len(t, files(table.ScanPlanningRemote, iceberggo.AlwaysTrue{}), 15)
}
