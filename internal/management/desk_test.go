package management_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

type secrets struct{}

func (secrets) NewClientID() string       { return access.NewClientID() }
func (secrets) NewClientSecret() string   { return access.NewClientSecret() }
func (secrets) Hash(secret string) string { return access.HashSecret(secret) }

const (
	overlap   = time.Hour
	warehouse = "file:///wh"
)

// desk is the use cases over a real SQLite file, with a clock that tests turn.
type desk struct {
	*management.Service
	t     *testing.T
	store *store.Store
	now   time.Time
	file  string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := openDesk(t, filepath.Join(t.TempDir(), "sluice.db"))
	require.NoError(t, store.Migrate(t.Context(), d.store))
	boot, _ := access.NewBootstrap("main", []string{warehouse}, models.GovernedOnly, d.now)
	require.NoError(t, d.store.Bootstrap(t.Context(), boot))
	return d
}

func openDesk(t *testing.T, file string) *desk {
	t.Helper()
	d := &desk{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), file: file}
	db, err := store.Open(t.Context(), store.Config{URL: file + "?synchronous=normal"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	d.store = db
	d.Service = management.New(management.Deps{
		Store: db, Locations: objects.Rules{}, Secrets: secrets{}, Warehouses: []string{warehouse, "s3://lake/sluice"},
		SecretOverlap: overlap, Now: func() time.Time { return d.now },
	})
	return d
}

// close ends the desk, so that copies of its file can be opened.
func (d *desk) close() { require.NoError(d.t, d.store.Close()) }

// copied is another desk that starts as this one was when it was closed.
func (d *desk) copied(t *testing.T) *desk {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sluice.db")
	data, err := os.ReadFile(d.file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return openDesk(t, file)
}

// as gives a principal as it is when it logs in with its own credentials.
func (d *desk) as(name string) policy.Caller {
	d.t.Helper()
	ctx := d.t.Context()
	p, err := d.store.PrincipalByName(ctx, name)
	require.NoError(d.t, err)
	roles, err := d.store.RolesOfPrincipal(ctx, p.ID)
	require.NoError(d.t, err)
	caller := policy.Caller{PrincipalID: p.ID, Principal: p.Name, CanGovern: true, Clearance: p.Clearance, MustRotate: p.RotationRequired}
	var ids []string
	var service []models.Privilege
	for _, r := range roles {
		ids, caller.RoleNames = append(ids, r.ID), append(caller.RoleNames, r.Name)
		if r.Name == models.ServiceAdminRole {
			service = append(service, models.ServiceManageAccess)
		}
	}
	grants, err := d.store.GrantsOfRoles(ctx, ids)
	require.NoError(d.t, err)
	caller.Held = policy.NewHeld(service, grants)
	return caller
}

func (d *desk) root() policy.Caller { return d.as(models.RootPrincipal) }

// principal makes one with a principal role and a role in main that are called after it, and gives it the privileges.
func (d *desk) principal(name string, grants ...management.GrantInput) {
	d.t.Helper()
	ctx, root := d.t.Context(), d.root()
	_, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: name})
	require.NoError(d.t, err)
	_, err = d.CreatePrincipalRole(ctx, root, management.NewRole{Name: name + "_role"})
	require.NoError(d.t, err)
	_, err = d.CreateCatalogRole(ctx, root, "main", management.NewRole{Name: name + "_in_main"})
	require.NoError(d.t, err)
	require.NoError(d.t, d.AssignPrincipalRole(ctx, root, name, name+"_role"))
	require.NoError(d.t, d.AssignCatalogRole(ctx, root, name+"_role", "main", name+"_in_main"))
	for _, g := range grants {
		require.NoError(d.t, d.AddGrant(ctx, root, "main", name+"_in_main", g))
	}
}

// namespace makes a namespace of main.
func (d *desk) namespace(levels ...string) models.Namespace {
	d.t.Helper()
	cat := d.catalog("main")
	key := models.KeyOf(levels)
	ns := models.Namespace{ID: uuid.NewString(), CatalogID: cat.ID, Key: key, ParentKey: key.Parent(), Version: 1}
	require.NoError(d.t, d.store.CreateNamespace(d.t.Context(), ns, models.AuditEvent{Type: models.AuditNamespaceCreated}))
	return ns
}

func (d *desk) table(ns models.Namespace, name string) models.Table {
	d.t.Helper()
	location := "file:///wh/" + ns.Key.String() + "/" + name
	row := models.Table{
		ID: uuid.NewString(), CatalogID: ns.CatalogID, NamespaceID: ns.ID, Name: name, UUID: uuid.NewString(),
		Location: location, MetadataLocation: location + "/metadata/0.json", FormatVersion: 2,
		WritePolicy: models.GovernedOnly, Classification: models.Internal, Version: 1,
	}
	require.NoError(d.t, d.store.CreateTable(d.t.Context(), row, catalog.Effects{}))
	return row
}

// drop drops a table and gives the id of the record.
func (d *desk) drop(table models.Table) string {
	d.t.Helper()
	record, err := d.store.DropTable(d.t.Context(), table.ID, models.DroppedTable{ID: uuid.NewString(), State: models.StateDropped},
		models.AuditEvent{Type: models.AuditTableDropped})
	require.NoError(d.t, err)
	return record.ID
}

func (d *desk) undrop(table models.Table, drop string) {
	d.t.Helper()
	require.NoError(d.t, d.store.UndropTable(d.t.Context(), drop, table.NamespaceID, table.Name, models.AuditEvent{Type: models.AuditTableUndropped}))
}

func (d *desk) view(ns models.Namespace, name string) models.View {
	d.t.Helper()
	location := "file:///wh/" + ns.Key.String() + "/" + name
	row := models.View{
		ID: uuid.NewString(), CatalogID: ns.CatalogID, NamespaceID: ns.ID, Name: name, UUID: uuid.NewString(),
		Location: location, MetadataLocation: location + "/metadata/0.json", Version: 1,
	}
	require.NoError(d.t, d.store.CreateView(d.t.Context(), row, models.AuditEvent{Type: models.AuditViewCreated}))
	return row
}

func (d *desk) catalog(name string) models.Catalog {
	d.t.Helper()
	cat, err := d.store.CatalogByName(d.t.Context(), name)
	require.NoError(d.t, err)
	return cat
}

// events gives the events of a type, newest first.
func (d *desk) events(typ models.AuditType) []models.AuditEvent {
	d.t.Helper()
	events, err := d.store.AuditEvents(d.t.Context(), models.AuditFilter{Type: typ, Limit: 1000})
	require.NoError(d.t, err)
	return events
}

// only gives the one event of a type.
func (d *desk) only(typ models.AuditType) models.AuditEvent {
	d.t.Helper()
	events := d.events(typ)
	require.Len(d.t, events, 1, "events of %s", typ)
	return events[0]
}

func onCatalog(p models.Privilege) management.GrantInput {
	return management.GrantInput{Scope: models.OnCatalog, Privilege: p}
}

func onNamespace(p models.Privilege, levels ...string) management.GrantInput {
	return management.GrantInput{Scope: models.OnNamespace, Namespace: levels, Privilege: p}
}

func onTable(p models.Privilege, name string, levels ...string) management.GrantInput {
	return management.GrantInput{Scope: models.OnTable, Namespace: levels, Name: name, Privilege: p}
}

func onView(p models.Privilege, name string, levels ...string) management.GrantInput {
	return management.GrantInput{Scope: models.OnView, Namespace: levels, Name: name, Privilege: p}
}

func wantFault(t *testing.T, err error, code fault.Code, says ...string) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("the error is %q (%v), want %q", fault.CodeOf(err), err, code)
	}
	for _, part := range says {
		if !strings.Contains(fault.PublicMessage(err), part) {
			t.Fatalf("the error says %q, want %q in it", fault.PublicMessage(err), part)
		}
	}
}

func names[T any](rows []T, name func(T) string) []string {
	out := []string{}
	for _, row := range rows {
		out = append(out, name(row))
	}
	slices.Sort(out)
	return out
}

func catalogNames(rows []models.Catalog) []string {
	return names(rows, func(c models.Catalog) string { return c.Name })
}

func roleNames(rows []models.PrincipalRole) []string {
	return names(rows, func(r models.PrincipalRole) string { return r.Name })
}

func catalogRoleNames(rows []models.CatalogRole) []string {
	return names(rows, func(r models.CatalogRole) string { return r.Name })
}

func principalNames(rows []models.Principal) []string {
	return names(rows, func(p models.Principal) string { return p.Name })
}
