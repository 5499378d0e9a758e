package facade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/models"
)

// matrix is a principal whose one grant the test changes, before a server that has all of its parts.
type matrix struct {
	*site
	t       *testing.T
	probe   string // token
	wrong   int
	refused map[string]int    // answers that refused for want of a privilege, by path
	words   *strings.Replacer // what the requests of the table leave open
	dropped string            // id of a dropped table
	last    string            // body of the last answer that was asked for
}

// TestEveryOperationByEveryPrivilege asks for everything that the product offers as somebody who holds one privilege on the
// catalog, each in turn, and compares with the table, which was written from the specification.
func TestEveryOperationByEveryPrivilege(t *testing.T) {
	m := newMatrix(t)
	ops := slices.Concat(facadeOperations(), updateOperations(), governanceOperations(), managementOperations())
	m.knowsEvery(ops)
	for _, privilege := range append([]models.Privilege{none}, policy.Grantable(models.OnCatalog)...) {
		m.grant("PUT", privilege)
		for _, op := range ops {
			m.try(op, string(privilege))
		}
		m.grant("POST", privilege)
	}
	require.Zero(t, m.wrong, "answers that are not those of the table")
	m.everyRefusalIsRecorded()
}

// TestServiceAdministratorsMayDoAllButGovernTables is the other end of the table.
func TestServiceAdministratorsMayDoAllButGovernTables(t *testing.T) {
	m := newMatrix(t)
	m.root("PUT", "/principals/probe/principal-roles", `{"principalRole":{"name":"service_admin"}}`, 201)
	for _, op := range slices.Concat(facadeOperations(), updateOperations(), governanceOperations(), managementOperations()) {
		if op.by != "nobody" {
			op.by = anybody
			m.try(op, none)
		}
	}
	require.Zero(t, m.wrong)
	r := m.send("GET", governed+"/access?privilege=TABLE_GOVERN&object=main.db.t", "", m.probe)
	require.Contains(t, string(r.body), `"allowed":false`)
}

func newMatrix(t *testing.T) *matrix {
	m := &matrix{t: t, refused: map[string]int{}}
	l := newLake(t)
	m.site = l.serve(t, func(s *setup) {
		s.core.Reconciler = noReconciler{}
		s.api.Catalog.Scans = scan.New(l.files)
		s.feed.Close() // a stream would have no end
	})
	m.want(t, 200, m.post(t, "/namespaces", `{"namespace":["db"]}`))
	for _, name := range []string{"t", "d", "gone"} {
		m.create(t, name)
	}
	m.remakeView()
	c := m.append(t, "t")
	m.want(t, 200, m.post(t, tablePath("t"), toJSON(map[string]any{"requirements": c.Requirements, "updates": c.Updates})))
	m.someToken()
	m.words = strings.NewReplacer("METADATA", m.load(t, "t").MetadataLocation, "LOCATION", l.warehouse+"/db/elsewhere", "FINDING", m.finding(l), "WRITER", m.writerID())
	m.want(t, 204, m.do(t, "DELETE", tablePath("gone"), ""))
	m.redrop()

	var made struct {
		Credentials struct{ ClientID, ClientSecret string }
	}
	m.root("POST", "/principals", `{"principal":{"name":"probe"}}`, 201).into(t, &made)
	m.root("POST", "/principals", `{"principal":{"name":"other"}}`, 201)
	m.root("POST", "/principal-roles", `{"principalRole":{"name":"probes"}}`, 201)
	m.root("POST", "/principal-roles", `{"principalRole":{"name":"others"}}`, 201)
	m.root("PUT", "/principals/probe/principal-roles", `{"principalRole":{"name":"probes"}}`, 201)
	for _, role := range []string{"probed", "other"} {
		m.root("POST", "/catalogs/main/catalog-roles", `{"catalogRole":{"name":"`+role+`"}}`, 201)
	}
	m.root("PUT", "/principal-roles/probes/catalog-roles/main", `{"catalogRole":{"name":"probed"}}`, 201)
	m.probe = l.login(t, access.Credentials(made.Credentials), "")
	return m
}

// finding opens a finding about the table and gives its id.
func (m *matrix) finding(l *lake) string {
	m.t.Helper()
	cat, err := l.db.CatalogByName(m.t.Context(), "main")
	require.NoError(m.t, err)
	tables, err := l.db.TableStates(m.t.Context(), models.TableFilter{CatalogID: cat.ID})
	require.NoError(m.t, err)
	row := tables[slices.IndexFunc(tables, func(s models.TableState) bool { return s.Table.Name == "t" })].Table
	found := models.Finding{Kind: models.FindingMissingFile, CatalogID: cat.ID, Catalog: "main", TableID: row.ID, TableUUID: row.UUID, Table: "db.t", SubjectKey: "any"}
	require.NoError(m.t, l.db.RecordFiles(m.t.Context(), activities.FileRecording{Findings: []models.Finding{found}}))
	rows, err := l.db.Findings(m.t.Context(), models.FindingFilter{TableID: row.ID})
	require.NoError(m.t, err)
	return rows[0].ID
}

// writerID declares a writer of the table and gives its id.
func (m *matrix) writerID() string {
	m.t.Helper()
	var declared struct{ ID string }
	m.want(m.t, 201, m.send("POST", governed+"/writers", `{"table":"main.db.t","principal":"root","every":"24h"}`, m.token)).into(m.t, &declared)
	return declared.ID
}

// noReconciler has nowhere to start workflows.
type noReconciler struct{}

func (noReconciler) RequestReconcile(context.Context, models.OutboxEvent) (string, error) {
	return "none", nil
}

// root asks for something of the management API as the administrator.
func (m *matrix) root(method, path, body string, status int) reply {
	m.t.Helper()
	return m.want(m.t, status, m.send(method, managed+path, body, m.token))
}

func (m *matrix) send(method, path, body, token string) reply {
	m.t.Helper()
	r, err := m.sendTo(m.t.Context(), method, m.url+path, body, "Authorization", "Bearer "+token)
	require.NoError(m.t, err)
	return r
}

// grant gives the probe its privilege (PUT) or takes it away (POST).
func (m *matrix) grant(method string, privilege models.Privilege) {
	if privilege != none {
		m.root(method, "/catalogs/main/catalog-roles/probed/grants", fmt.Sprintf(`{"grant":{"type":"catalog","privilege":%q}}`, privilege), 201)
	}
}

// try sends one request and compares the answer with the table.
func (m *matrix) try(op operation, privilege string) {
	m.t.Helper()
	replace := func(s string) string { return strings.ReplaceAll(m.words.Replace(s), "DROPPED", m.dropped) }
	if strings.Contains(op.path, "TOKEN") {
		op.path = strings.ReplaceAll(op.path, "TOKEN", m.someToken())
	}
	r := m.send(op.method, replace(op.path), replace(op.body), m.probe)
	allowed := op.allows(privilege)
	want := op.status
	shorter := op.about == nothing || op.shows != "" && op.refusal(privilege) == 403 // a list that shows less is no refusal
	if !allowed && !shorter {
		want = op.refusal(privilege)
	}
	if !allowed && r.StatusCode >= 400 {
		m.refused[op.method+" "+op.name]++
	}
	shown := strings.Contains(string(r.body), op.shows)
	switch {
	case r.StatusCode != want,
		op.shows != "" && r.StatusCode == 200 && shown != allowed,
		allowed && op.kind != "" && r.kind() != op.kind,
		!allowed && op.kind != "" && r.kind() == op.kind:
		m.wrong++
		m.t.Errorf("%s by %q: %d, not %d (allowed: %v)\n%s %s\n%.300s", op.name, privilege, r.StatusCode, want, allowed, op.method, op.path, r.body)
	}
	if r.StatusCode < 300 && op.undo != nil {
		op.undo(m)
	}
}

// everyRefusalIsRecorded once, be it 403 or 404, with a reason that names what is missing.
func (m *matrix) everyRefusalIsRecorded() {
	m.t.Helper()
	total := 0
	for _, n := range m.refused {
		total += n
	}
	recorded := 0
	for _, kind := range []models.AuditType{models.AuditRequestDenied, models.AuditCommitDenied} {
		events, err := m.db.AuditEvents(m.t.Context(), models.AuditFilter{Type: kind, Principal: "probe", Limit: 100_000})
		require.NoError(m.t, err)
		recorded += len(events)
		for _, e := range events {
			require.NotEmpty(m.t, e.Reason)
			require.False(m.t, e.Allowed)
		}
	}
	require.Equal(m.t, total, recorded, "%v", m.refused)
}

// remake makes the table again that was dropped.
func (m *matrix) remake() { m.create(m.t, "d") }

func (m *matrix) remakeView() {
	m.want(m.t, 200, m.post(m.t, "/namespaces/db/views", viewBody("v")))
}

// redrop finds the dropped table, and drops another one in its place when it is forgotten.
func (m *matrix) redrop() {
	for range 2 {
		var list struct {
			Items []struct{ ID, Name, State string }
		}
		m.send("GET", governed+"/dropped-tables?catalog=main&state=dropped&limit=1000", "", m.token).into(m.t, &list)
		for _, item := range list.Items {
			if item.Name == "gone" {
				m.dropped = item.ID
				return
			}
		}
		m.create(m.t, "gone")
		m.want(m.t, 204, m.do(m.t, "DELETE", tablePath("gone"), ""))
	}
	m.t.Fatal("the dropped table is not in the list")
}

// someToken gives the id of a token of root.
func (m *matrix) someToken() string {
	var minted struct{ ID string }
	m.want(m.t, 201, m.send("POST", governed+"/tokens", `{"name":"of root","expiresIn":"1h"}`, m.token)).into(m.t, &minted)
	return minted.ID
}

// knowsEvery compares the table with the routes that the configuration offers.
func (m *matrix) knowsEvery(ops []operation) {
	var config struct{ Endpoints []string }
	m.send("GET", mount+"/v1/config?warehouse=main", "", m.token).into(m.t, &config)
	require.NotEmpty(m.t, config.Endpoints)
	for _, endpoint := range config.Endpoints {
		method, path, _ := strings.Cut(endpoint, " ")
		named := strings.NewReplacer("{prefix}", "main", "{namespace}", "db", "{view}", "v", "{plan-id}", "none", "{function}", "f").Replace(path)
		found := slices.ContainsFunc(ops, func(op operation) bool {
			asked, _, _ := strings.Cut(op.path, "?")
			return op.method == method && (asked == mount+strings.ReplaceAll(named, "{table}", "t") || asked == mount+strings.ReplaceAll(named, "{table}", "d"))
		})
		require.True(m.t, found, "no row asks for %s", endpoint)
	}
}

var _ catalog.Reconciler = noReconciler{}
