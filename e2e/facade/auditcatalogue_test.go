package facade

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/api/data"
	"github.com/sluice-data/sluice/api/governance"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

// catalogued is a route that may change something, with the events that its effect is recorded as. The words of its requests
// are replaced by what earlier rows kept.
type catalogued struct {
	route  string
	events []models.AuditType // of the effect; none for a route that only reads
	path   string             // of the requests below, with the route's own method; "": they are tried elsewhere
	body   string             // that has the effect
	denied string             // body that a principal without rights is refused; "": the same
	open   bool               // nobody is refused
	fails  string             // body that fails, or a path that begins with /
	keep   string             // word for the id of what is made
}

const (
	iceberg   = "/api/catalog/v1/:prefix"
	asTable   = `{"namespace":["db"],"name":"%s"}`
	setOne    = `{"action":"set-properties","updates":{"x":"y"}}`
	noRow     = "00000000-0000-4000-8000-000000000000"
	wrongUUID = `[{"type":"assert-table-uuid","uuid":"` + noRow + `"}]`
)

// auditCatalogue is every route that may change something. Its rows are tried in this order.
func auditCatalogue() []catalogued {
	return slices.Concat(icebergCatalogue(), governanceCatalogue(), managementCatalogue())
}

func icebergCatalogue() []catalogued {
	types := func(t ...models.AuditType) []models.AuditType { return t }
	spaces, table, view := iceberg+"/namespaces", iceberg+"/namespaces/:namespace/tables/:table", iceberg+"/namespaces/:namespace/views/:view"
	change := func(identifier, requirements string) string {
		return `{"table-changes":[{"identifier":` + identifier + `,"requirements":` + requirements + `,"updates":[` + setOne + `]}]}`
	}
	t := prefix + tablePath("t")
	rename := func(from, to string) string {
		return `{"source":` + fmt.Sprintf(asTable, from) + `,"destination":` + fmt.Sprintf(asTable, to) + `}`
	}
	return []catalogued{
		{route: "POST " + spaces, events: types(models.AuditNamespaceCreated), path: prefix + "/namespaces", body: `{"namespace":["n1"]}`, fails: `{"namespace":["db"]}`},
		{route: "DELETE " + spaces + "/:namespace", events: types(models.AuditNamespaceDropped), path: prefix + "/namespaces/n1", fails: prefix + "/namespaces/db"},
		{route: "POST " + spaces + "/:namespace/properties", events: types(models.AuditNamespaceUpdated), path: inSpace + "/properties", body: `{"updates":{"x":"y"}}`, fails: `{"updates":{"a":"b"},"removals":["a"]}`},
		{route: "POST " + spaces + "/:namespace/tables", events: types(models.AuditTableCreated), path: inSpace + "/tables", body: createBody("a"), fails: createBody("t")},
		{route: "POST " + table + "/unregister", events: types(models.AuditTableUnregistered), path: inSpace + "/tables/a/unregister", fails: inSpace + "/tables/none/unregister"},
		{route: "POST " + table, events: types(models.AuditTableCommitted), path: t, body: `{"requirements":[],"updates":[` + setOne + `]}`, fails: `{"requirements":` + wrongUUID + `,"updates":[` + setOne + `]}`},
		{route: "DELETE " + table, events: types(models.AuditTableDropped), path: inSpace + "/tables/d", fails: inSpace + "/tables/none"},
		{route: "POST " + spaces + "/:namespace/register", events: types(models.AuditTableRegistered), path: inSpace + "/register", body: `{"name":"t","metadata-location":"METADATA","overwrite":true}`, fails: `{"name":"t","metadata-location":"METADATA"}`},
		{route: "POST " + iceberg + "/tables/rename", events: types(models.AuditTableRenamed), path: prefix + "/tables/rename", body: rename("t", "t2"), fails: rename("none", "t3")},
		{route: "POST " + iceberg + "/transactions/commit", events: types(models.AuditTableCommitted), path: prefix + "/transactions/commit", body: change(fmt.Sprintf(asTable, "t2"), "[]"), fails: change(fmt.Sprintf(asTable, "t2"), wrongUUID)},
		{route: "POST " + spaces + "/:namespace/views", events: types(models.AuditViewCreated), path: inSpace + "/views", body: viewBody("w"), fails: viewBody("v")},
		{route: "POST " + view, events: types(models.AuditViewReplaced), path: inSpace + "/views/w", body: `{"updates":[` + setOne + `]}`, fails: `{"requirements":[{"type":"assert-view-uuid","uuid":"` + noRow + `"}],"updates":[` + setOne + `]}`},
		{route: "POST " + iceberg + "/views/rename", events: types(models.AuditViewRenamed), path: prefix + "/views/rename", body: rename("w", "w2"), fails: rename("none", "w3")},
		{route: "POST " + spaces + "/:namespace/register-view", events: types(models.AuditViewRegistered), path: inSpace + "/register-view", body: `{"name":"v3","metadata-location":"VIEWFILE"}`, fails: `{"name":"v3","metadata-location":"METADATA"}`},
		{route: "DELETE " + view, events: types(models.AuditViewDropped), path: inSpace + "/views/w2", fails: inSpace + "/views/none"},
		{route: "POST " + table + "/plan", path: inSpace + "/tables/t2/plan", body: `{}`, fails: `{"select":3}`},
		{route: "DELETE " + table + "/plan/:plan-id", path: inSpace + "/tables/t2/plan/none", fails: inSpace + "/tables/t2/plan/none"},
		{route: "POST " + table + "/tasks", path: inSpace + "/tables/t2/tasks", fails: `{"plan-task":"none"}`},
		{route: "POST " + table + "/metrics", path: inSpace + "/tables/t2/metrics", body: scanReport, fails: `{}`},
		{route: "POST " + table + "/sign", path: inSpace + "/tables/t2/sign", fails: `{"region":"r","uri":"https://b.s3.amazonaws.com/k","method":"GET","headers":{}}`},
		{route: "POST " + iceberg + "/aws/s3/sign"},
		{route: "POST /api/catalog/v1/oauth/tokens"}, // who asks is not known yet; internal/access records what it gives and refuses
	}
}

func governanceCatalogue() []catalogued {
	types := func(t ...models.AuditType) []models.AuditType { return t }
	const of, table = governed + "/tables/:ref", governed + "/tables/main.db.t2"
	return []catalogued{
		{route: "POST " + governed + "/tokens", events: types(models.AuditTokenMinted), path: governed + "/tokens", body: `{"expiresIn":"1h"}`, denied: `{"principal":"root","expiresIn":"1h"}`, fails: `{"expiresIn":"-1h"}`, keep: "MINTED"},
		{route: "DELETE " + governed + "/tokens/:id", events: types(models.AuditTokenRevoked), path: governed + "/tokens/MINTED", fails: governed + "/tokens/" + noRow},
		{route: "PUT " + of + "/write-policy", events: types(models.AuditWritePolicyChanged), path: table + "/write-policy", body: `{"policy":"open_append"}`, fails: `{"policy":"ajar"}`},
		{route: "PUT " + of + "/classification", events: types(models.AuditClassificationChanged), path: table + "/classification", body: `{"level":"restricted"}`, fails: `{"level":"internal","identityColumns":["none"]}`},
		{route: "PUT " + of + "/protection", events: types(models.AuditProtectionChanged), path: table + "/protection", body: `{"protected":true}`, fails: `{"protected":3}`},
		{route: "PUT " + of + "/duplicate-commits", events: types(models.AuditDuplicatesChanged), path: table + "/duplicate-commits", body: `{"mode":"reject"}`, fails: `{"mode":"never"}`},
		{route: "POST " + of + "/reconcile", path: table + "/reconcile", events: silent(), fails: governed + "/tables/main.db.none/reconcile"}, // the reconciliation is an event of its own
		{route: "POST " + governed + "/dropped-tables/:id/undrop", events: types(models.AuditTableUndropped), path: governed + "/dropped-tables/DROPPED/undrop", body: `{"name":"db.back"}`, fails: governed + "/dropped-tables/" + noRow + "/undrop"},
		{route: "POST " + governed + "/dropped-tables/:id/forget", events: types(models.AuditTableForgotten), path: governed + "/dropped-tables/DROPPED2/forget", fails: governed + "/dropped-tables/" + noRow + "/forget"},
		{route: "PUT " + governed + "/namespaces/:ref/default-write-policy", events: types(models.AuditDefaultPolicyChanged), path: governed + "/namespaces/main.db/default-write-policy", body: `{"policy":"open_append"}`, fails: `{"policy":"ajar"}`},
		{route: "PUT " + governed + "/catalogs/:ref/default-write-policy", events: types(models.AuditDefaultPolicyChanged), path: governed + "/catalogs/main/default-write-policy", body: `{"policy":"open_append"}`, fails: `{"policy":"ajar"}`},
		{route: "PUT " + governed + "/namespaces/:ref/default-classification", events: types(models.AuditDefaultLevelChanged), path: governed + "/namespaces/main.db/default-classification", body: `{"level":"confidential"}`, fails: `{"level":"secret"}`},
		{route: "PUT " + governed + "/catalogs/:ref/default-classification", events: types(models.AuditDefaultLevelChanged), path: governed + "/catalogs/main/default-classification", body: `{"level":"public"}`, fails: `{"level":"secret"}`},
		{route: "PUT " + of + "/row-filters/:role", events: types(models.AuditRowFiltersChanged), path: table + "/row-filters/probes", body: `{"filter":"id > 1"}`, fails: `{"filter":"none > 1"}`},
		{route: "DELETE " + of + "/row-filters/:role", events: types(models.AuditRowFiltersChanged), path: table + "/row-filters/probes", fails: table + "/row-filters/none"},
		{route: "POST /data/v1/tables/:ref/write", events: types(models.AuditRowsWritten, models.AuditTableCommitted), path: "/data/v1/tables/main.db.t2/write", body: `[{"id":"1"}]`, fails: `[{"id":"one"}]`},
		{route: "POST /data/v1/tables/:ref/query", path: "/data/v1/tables/main.db.t2/query", body: `{}`, fails: `{"limit":-1}`},
		{route: "POST /data/v1/tables/:ref/row-audit", path: "/data/v1/tables/main.db.t2/row-audit", body: `{"identity":{"id":"1"}}`, fails: `{"identity":3}`},
		{route: "PUT " + governed + "/catalogs/:ref/storage-secrets", events: types(models.AuditStorageSecretsChanged)}, // internal/management
		{route: "DELETE " + governed + "/catalogs/:ref/storage-secrets", events: types(models.AuditStorageSecretsChanged)},
		{route: "POST " + governed + "/catalogs/:ref/storage/validate"},
		{route: "POST " + governed + "/findings/:id/resolve", events: types(models.AuditFindingResolved), path: governed + "/findings/FINDING/resolve", body: `{"note":"seen"}`, fails: governed + "/findings/" + noRow + "/resolve"},
		{route: "POST " + governed + "/writers", events: types(models.AuditWriterDeclared), path: governed + "/writers", body: `{"table":"main.db.t2","principal":"other","every":"1h"}`, fails: `{"table":"main.db.t2","principal":"other","every":"-1h"}`},
		{route: "PUT " + governed + "/writers/:id", events: types(models.AuditWriterDeclared), path: governed + "/writers/WRITER", body: `{"every":"2h"}`, fails: `{"every":"-2h"}`},
		{route: "POST " + governed + "/writers/:id/retire", events: types(models.AuditWriterRetired), path: governed + "/writers/WRITER/retire", body: `{"note":"gone"}`, fails: governed + "/writers/" + noRow + "/retire"},
		{route: "POST " + governed + "/webhooks", events: types(models.AuditWebhookCreated), path: governed + "/webhooks", body: `{"name":"pager","url":"https://example.com/hook"}`, fails: `{"name":"pager2","url":"ftp://example.com"}`, keep: "WEBHOOK"},
		{route: "PUT " + governed + "/webhooks/:id", events: types(models.AuditWebhookUpdated), path: governed + "/webhooks/WEBHOOK", body: `{"name":"pager","url":"https://example.com/other"}`, fails: governed + "/webhooks/" + noRow},
		{route: "POST " + governed + "/webhooks/:id/test", events: silent(), path: governed + "/webhooks/WEBHOOK/test", fails: governed + "/webhooks/" + noRow + "/test"}, // nothing changes here
		{route: "POST " + governed + "/webhooks/:id/replay", events: types(models.AuditWebhookReplayed), path: governed + "/webhooks/WEBHOOK/replay", body: `{"since":"2020-01-01T00:00:00Z"}`, fails: `{"state":"lost"}`},
		{route: "DELETE " + governed + "/webhooks/:id", events: types(models.AuditWebhookDeleted), path: governed + "/webhooks/WEBHOOK", fails: governed + "/webhooks/" + noRow},
	}
}

// silent marks a route whose requests are tried and have an effect without an event of the request.
func silent() []models.AuditType { return []models.AuditType{""} }

func managementCatalogue() []catalogued {
	types := func(t ...models.AuditType) []models.AuditType { return t }
	const (
		principal = managed + "/principals/:principal"
		role      = managed + "/principal-roles/:principalRole"
		roles     = managed + "/catalogs/:catalog/catalog-roles"
		stale     = `{"currentEntityVersion":99,"properties":{}}`
		first     = `{"currentEntityVersion":1,"properties":{"a":"b"}}`
	)
	newCatalog := func(name string) string {
		return `{"catalog":{"name":"` + name + `","type":"INTERNAL","properties":{"default-base-location":"LOCATION2"},"storageConfigInfo":{"storageType":"FILE","allowedLocations":["LOCATION2"]}}}`
	}
	grant := func(privilege string) string { return `{"grant":{"type":"catalog","privilege":"` + privilege + `"}}` }
	return []catalogued{
		{route: "POST " + managed + "/catalogs", events: types(models.AuditCatalogCreated), path: managed + "/catalogs", body: newCatalog("c2"), fails: newCatalog("main")},
		{route: "PUT " + managed + "/catalogs/:catalog", events: types(models.AuditCatalogUpdated), path: managed + "/catalogs/c2", body: `{"currentEntityVersion":1,"properties":{"default-base-location":"LOCATION2","a":"b"}}`, fails: stale},
		{route: "DELETE " + managed + "/catalogs/:catalog", events: types(models.AuditCatalogDeleted), path: managed + "/catalogs/c2", fails: managed + "/catalogs/main"},
		{route: "POST " + managed + "/principals", events: types(models.AuditPrincipalCreated), path: managed + "/principals", body: `{"principal":{"name":"p2"}}`, fails: `{"principal":{"name":"root"}}`},
		{route: "PUT " + principal, events: types(models.AuditPrincipalUpdated), path: managed + "/principals/p2", body: first, fails: stale},
		{route: "POST " + principal + "/rotate", events: types(models.AuditPrincipalSecretRotated), path: managed + "/principals/root/rotate", fails: managed + "/principals/none/rotate"},
		{route: "POST " + principal + "/reset", events: types(models.AuditPrincipalSecretReset), path: managed + "/principals/p2/reset", fails: `{"clientSecret":"short"}`},
		{route: "PUT " + principal + "/principal-roles", events: types(models.AuditPrincipalRoleAssigned), path: managed + "/principals/p2/principal-roles", body: `{"principalRole":{"name":"others"}}`, fails: `{"principalRole":{"name":"none"}}`},
		{route: "DELETE " + principal + "/principal-roles/:principalRole", events: types(models.AuditPrincipalRoleRevoked), path: managed + "/principals/p2/principal-roles/others", fails: managed + "/principals/p2/principal-roles/none"},
		{route: "DELETE " + principal, events: types(models.AuditPrincipalDeleted), path: managed + "/principals/p2", fails: managed + "/principals/none"},
		{route: "POST " + managed + "/principal-roles", events: types(models.AuditPrincipalRoleCreated), path: managed + "/principal-roles", body: `{"principalRole":{"name":"r2"}}`, fails: `{"principalRole":{"name":"probes"}}`},
		{route: "PUT " + role, events: types(models.AuditPrincipalRoleUpdated), path: managed + "/principal-roles/r2", body: first, fails: stale},
		{route: "PUT " + role + "/catalog-roles/:catalog", events: types(models.AuditCatalogRoleAssigned), path: managed + "/principal-roles/r2/catalog-roles/main", body: `{"catalogRole":{"name":"other"}}`, fails: `{"catalogRole":{"name":"none"}}`},
		{route: "DELETE " + role + "/catalog-roles/:catalog/:catalogRole", events: types(models.AuditCatalogRoleRevoked), path: managed + "/principal-roles/r2/catalog-roles/main/other", fails: managed + "/principal-roles/r2/catalog-roles/main/none"},
		{route: "DELETE " + role, events: types(models.AuditPrincipalRoleDeleted), path: managed + "/principal-roles/r2", fails: managed + "/principal-roles/none"},
		{route: "POST " + roles, events: types(models.AuditCatalogRoleCreated), path: managed + "/catalogs/main/catalog-roles", body: `{"catalogRole":{"name":"k2"}}`, fails: `{"catalogRole":{"name":"other"}}`},
		{route: "PUT " + roles + "/:catalogRole", events: types(models.AuditCatalogRoleUpdated), path: managed + "/catalogs/main/catalog-roles/k2", body: first, fails: stale},
		{route: "PUT " + roles + "/:catalogRole/grants", events: types(models.AuditGrantAdded), path: managed + "/catalogs/main/catalog-roles/k2/grants", body: grant("TABLE_LIST"), fails: grant("TABLE_EAT")},
		{route: "POST " + roles + "/:catalogRole/grants", events: types(models.AuditGrantRevoked), path: managed + "/catalogs/main/catalog-roles/k2/grants", body: grant("TABLE_LIST"), fails: grant("VIEW_LIST")},
		{route: "DELETE " + roles + "/:catalogRole", events: types(models.AuditCatalogRoleDeleted), path: managed + "/catalogs/main/catalog-roles/k2", fails: managed + "/catalogs/main/catalog-roles/none"},
	}
}

// everyRoute gives the routes of all APIs that are asked by a method that may change something, each once.
func everyRoute(t *testing.T) []string {
	t.Helper()
	core, admin := (*catalog.Service)(nil), (*management.Service)(nil) // to be mounted, not called
	deps := api.Deps{
		Log: slog.New(slog.DiscardHandler), Management: admin, Data: data.Deps{Rows: (*dataplane.Service)(nil)}, Codec: http.NotFoundHandler(),
		Governance: governance.Deps{
			Tokens: (*access.Tokens)(nil), Policies: core, Tables: core, Records: core, Drops: core, Metrics: core, Explainer: admin, Storage: admin,
			Accesses: core, Findings: core, Writers: core, Webhooks: (*webhooks.Service)(nil), Feed: &events.Feed{}, Checkpoints: (*audit.Reader)(nil), Now: time.Now,
		},
	}
	for field, value := range reflect.ValueOf(deps.Governance).Fields() {
		if value.Kind() == reflect.Interface || value.Kind() == reflect.Pointer {
			require.False(t, value.IsNil(), "%s is not mounted here", field.Name)
		}
	}
	router, ok := api.Router(deps).(interface{ Routes() gin.RoutesInfo })
	require.True(t, ok)
	found := map[string]bool{}
	for _, r := range router.Routes() {
		path := strings.Replace(r.Path, api.TableCatalogPath, api.CatalogPath, 1)
		if rest, bare := strings.CutPrefix(path, api.CatalogPath+"/v1/"); bare && !strings.HasPrefix(rest, ":prefix/") && !strings.HasPrefix(rest, "oauth/") {
			path = iceberg + "/" + rest // the same without a prefix: the token's catalog
		}
		if r.Method == "POST" || r.Method == "PUT" || r.Method == "DELETE" || r.Method == "PATCH" {
			found[r.Method+" "+path] = true
		}
	}
	delete(found, "POST "+api.CodecPath+"/*codec") // decrypts what the caller brings
	return slices.Sorted(maps.Keys(found))
}

// TestEveryMutatingRouteIsInTheAuditCatalogue: who adds a route says what the audit has of it.
func TestEveryMutatingRouteIsInTheAuditCatalogue(t *testing.T) {
	var named []string
	for _, row := range auditCatalogue() {
		named = append(named, row.route)
		for _, typ := range row.events {
			require.True(t, typ == "" || slices.Contains(models.AuditTypes(), typ), "%s is no event", typ)
		}
	}
	slices.Sort(named)
	require.Equal(t, everyRoute(t), named)
}

// TestAuditCatalogue sends what each route of the catalogue allows, refuses and fails at, and looks for exactly the events.
func TestAuditCatalogue(t *testing.T) {
	m := newMatrix(t)
	m.seal()
	words := map[string]string{"LOCATION2": m.warehouse + "/second", "VIEWFILE": m.viewFile()}
	for _, row := range auditCatalogue() {
		if row.path == "" {
			continue
		}
		method, _, _ := strings.Cut(row.route, " ")
		if strings.Contains(row.path, "DROPPED") {
			words["DROPPED2"], words["DROPPED"] = m.dropOne("other"), m.dropOne("one")
		}
		ask := func(what, path, body, token string) (int, []models.AuditType) {
			return m.ask(method, replaced(words, m.words.Replace(path)), replaced(words, m.words.Replace(body)), token, row.route+" "+what)
		}
		if len(row.events) > 0 && !row.open {
			status, found := ask("denied", row.path, cmp.Or(row.denied, row.body), m.probe)
			require.Contains(t, []int{403, 404}, status, row.route)
			require.Equal(t, []models.AuditType{models.AuditRequestDenied}, found, "%s, refused", row.route)
		}
		path, body := row.path, row.fails
		if strings.HasPrefix(row.fails, "/") {
			path, body = row.fails, row.body
		}
		status, found := ask("failed", path, body, m.token)
		require.GreaterOrEqual(t, status, 400, row.route)
		if len(row.events) == 0 {
			require.Empty(t, found, "%s only reads", row.route)
			continue
		}
		require.Equal(t, []models.AuditType{models.AuditRequestFailed}, found, "%s, failed", row.route)
		status, found = ask("allowed", row.path, row.body, m.token)
		if row.events[0] == "" {
			require.Equal(t, status >= 300, len(found) == 1, "%s: %d", row.route, status) // the test of a webhook reaches nobody here
			continue
		}
		require.Less(t, status, 300, "%s: %s", row.route, m.last)
		require.Equal(t, row.events, found, "%s, allowed", row.route)
		if row.keep != "" {
			var made struct{ ID string }
			require.NoError(t, json.Unmarshal([]byte(m.last), &made))
			words[row.keep] = made.ID
		}
	}
}

func replaced(words map[string]string, s string) string {
	for _, word := range slices.Backward(slices.Sorted(maps.Keys(words))) { // the longer of two first
		s = strings.ReplaceAll(s, word, words[word])
	}
	return s
}

// ask sends a request and gives the events that carry its id.
func (m *matrix) ask(method, path, body, token, id string) (int, []models.AuditType) {
	m.t.Helper()
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, id) + fmt.Sprint(time.Now().UnixNano())
	id = id[max(0, len(id)-100):]
	r, err := m.sendTo(m.t.Context(), method, m.url+path, body, "Authorization", "Bearer "+token, "X-Request-ID", id)
	require.NoError(m.t, err)
	m.last = string(r.body)
	list, err := m.db.AuditEvents(m.t.Context(), models.AuditFilter{Limit: 30})
	require.NoError(m.t, err)
	var found []models.AuditType
	for _, e := range list {
		if e.RequestID == id {
			found = append(found, e.Type)
			require.Equal(m.t, e.Type != models.AuditRequestDenied && e.Type != models.AuditRequestFailed, e.Allowed)
		}
	}
	return r.StatusCode, found
}

// seal gives the events so far their places, so that they can be sent again.
func (m *matrix) seal() {
	m.t.Helper()
	sealer, err := audit.NewSealer(m.db, audit.NewKeys(m.db, nil, time.Now, nil), audit.SealerOptions{})
	require.NoError(m.t, err)
	over, cancel := context.WithCancel(m.t.Context())
	cancel()
	sealer.Run(over)
}

// viewFile is the metadata file of a view that is gone.
func (m *matrix) viewFile() string {
	m.t.Helper()
	m.want(m.t, 200, m.post(m.t, "/namespaces/db/views", viewBody("brief")))
	var view struct {
		Location string `json:"metadata-location"`
	}
	m.get(m.t, "/namespaces/db/views/brief").into(m.t, &view)
	m.want(m.t, 204, m.do(m.t, "DELETE", "/namespaces/db/views/brief", ""))
	return view.Location
}

// dropOne makes and drops a table and gives the id of its drop.
func (m *matrix) dropOne(name string) string {
	m.t.Helper()
	m.create(m.t, name)
	m.want(m.t, 204, m.do(m.t, "DELETE", tablePath(name), ""))
	var list struct {
		Items []struct{ ID, Name, State string }
	}
	m.send("GET", governed+"/dropped-tables?catalog=main&state=dropped&limit=1000", "", m.token).into(m.t, &list)
	for _, item := range list.Items {
		if item.Name == name {
			return item.ID
		}
	}
	m.t.Fatalf("the drop of %s is not in the list", name)
	return ""
}
