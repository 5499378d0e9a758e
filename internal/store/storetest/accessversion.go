package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

func versionCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"every change of identity raises it":             identityRaises,
		"every change of grants raises it":               grantsRaise,
		"what a deletion takes with it raises it":        deletionsRaise,
		"a granted object that moves or returns does":    movesRaise,
		"signing keys raise it":                          keysRaise,
		"what changes nothing leaves it":                 noEffectLeaves,
		"the traffic of engines leaves it":               trafficLeaves,
		"a change that fails leaves it":                  failureLeaves,
		"it is raised in the transaction of its change":  raisedWithChange,
		"many changes at once are each counted at least": raisedByEach,
	}
}

// raises runs a change that must raise the version, leaves one that must not.
func (f *fixture) raises(t *testing.T, what string, change func() error) {
	t.Helper()
	before := f.version(t)
	require.NoError(t, change(), what)
	assert.Greater(t, f.version(t), before, what)
}

func (f *fixture) leaves(t *testing.T, what string, change func() error) {
	t.Helper()
	before := f.version(t)
	require.NoError(t, change(), what)
	assert.Equal(t, before, f.version(t), what)
}

// did is for changes that tell whether they changed something.
func did(_ any, err error) error { return err }

func identityRaises(t *testing.T, f *fixture) {
	ctx := t.Context()
	p, r, c := newPrincipal("ada"), models.PrincipalRole{ID: uuid.NewString(), Name: "r"}, models.CatalogRole{ID: uuid.NewString(), CatalogID: f.cat.ID, Name: "c"}
	f.raises(t, "principal", func() error { return f.s.CreatePrincipal(ctx, p, event(models.AuditPrincipalCreated)) })
	f.raises(t, "principal update", func() error { return f.s.UpdatePrincipal(ctx, p, event(models.AuditPrincipalUpdated)) })
	p.Version++
	f.raises(t, "reset", func() error { return f.s.ResetSecret(ctx, p, event(models.AuditPrincipalSecretReset)) })
	f.raises(t, "secret", func() error { return f.s.ReplaceSecret(ctx, p.ID, "x", event(models.AuditPrincipalSecretReset)) })
	f.raises(t, "principal role", func() error { return f.s.CreatePrincipalRole(ctx, r, event(models.AuditPrincipalRoleCreated)) })
	f.raises(t, "principal role update", func() error { return f.s.UpdatePrincipalRole(ctx, r, event(models.AuditPrincipalRoleUpdated)) })
	f.raises(t, "catalog role", func() error { return f.s.CreateCatalogRole(ctx, c, event(models.AuditCatalogRoleCreated)) })
	f.raises(t, "catalog role update", func() error { return f.s.UpdateCatalogRole(ctx, c, event(models.AuditCatalogRoleUpdated)) })
	f.raises(t, "catalog", func() error {
		return f.s.CreateCatalog(ctx, models.Catalog{ID: uuid.NewString(), Name: "second"}, nil, event(models.AuditCatalogCreated))
	})
	token := f.token(t, models.EngineToken)
	f.raises(t, "token revocation", func() error { return f.s.RevokeToken(ctx, token.ID, time.Now(), event(models.AuditTokenRevoked)) })
}

func grantsRaise(t *testing.T, f *fixture) {
	ctx := t.Context()
	p, r, c := f.principal(t, "ada"), f.principalRole(t, "r"), f.catalogRole(t, "c")
	member, role := models.PrincipalRoleMember{PrincipalID: p.ID, PrincipalRoleID: r.ID}, models.CatalogRoleMember{PrincipalRoleID: r.ID, CatalogRoleID: c.ID}
	grant := f.newGrant(c, models.OnNamespace, f.ns.ID, models.TableList)
	f.raises(t, "assign", func() error {
		return did(f.s.AssignPrincipalRole(ctx, member, event(models.AuditPrincipalRoleAssigned)))
	})
	f.raises(t, "give", func() error { return did(f.s.AssignCatalogRole(ctx, role, event(models.AuditCatalogRoleAssigned))) })
	f.raises(t, "grant", func() error { return did(f.s.AddGrant(ctx, grant, event(models.AuditGrantAdded))) })
	f.raises(t, "revoke grant", func() error {
		return did(f.s.RevokeGrants(ctx, []management.RevokedGrant{{ID: grant.ID, Event: event(models.AuditGrantRevoked)}}))
	})
	f.raises(t, "take", func() error { return did(f.s.RevokeCatalogRole(ctx, role, event(models.AuditCatalogRoleRevoked))) })
	f.raises(t, "unassign", func() error {
		return did(f.s.RevokePrincipalRole(ctx, member, event(models.AuditPrincipalRoleRevoked)))
	})
}

func deletionsRaise(t *testing.T, f *fixture) {
	ctx := t.Context()
	p, r, c := f.principal(t, "ada"), f.principalRole(t, "r"), f.catalogRole(t, "c")
	ns, view := f.namespace(t, "granted"), f.view(t, "top")
	f.grant(t, c, models.OnNamespace, ns.ID, models.TableList)
	f.grant(t, c, models.OnView, view.ID, models.ViewList)
	f.raises(t, "granted namespace", func() error { return f.s.DropNamespace(ctx, ns.ID, event(models.AuditNamespaceDropped)) })
	f.raises(t, "granted view", func() error { return f.s.DropView(ctx, view.ID, event(models.AuditViewDropped)) })
	f.raises(t, "principal", func() error { return f.s.DeletePrincipal(ctx, p.ID, event(models.AuditPrincipalDeleted)) })
	f.raises(t, "principal role", func() error { return f.s.DeletePrincipalRole(ctx, r.ID, event(models.AuditPrincipalRoleDeleted)) })
	f.raises(t, "catalog role", func() error { return f.s.DeleteCatalogRole(ctx, c.ID, event(models.AuditCatalogRoleDeleted)) })
	f.emptied(t)
	// The catalogs themselves are not counted: it is what their deletion takes with it.
	f.raises(t, "catalog", func() error { return f.deleteCatalog(t) })
}

func movesRaise(t *testing.T, f *fixture) {
	ctx := t.Context()
	role, target := f.catalogRole(t, "c"), f.namespace(t, "target")
	table, view, next := f.table(t, "orders"), f.view(t, "top"), f.newTable("renamed")
	f.grant(t, role, models.OnTable, table.ID, models.TableList)
	f.grant(t, role, models.OnView, view.ID, models.ViewList)
	f.raises(t, "table", func() error {
		return f.s.RenameTable(ctx, table.ID, target.ID, "moved", event(models.AuditTableRenamed))
	})
	f.raises(t, "view", func() error { return f.s.RenameView(ctx, view.ID, target.ID, "top", event(models.AuditViewRenamed)) })
	f.leaves(t, "a name alone", func() error {
		return f.s.RenameTable(ctx, table.ID, target.ID, "renamed", event(models.AuditTableRenamed))
	})
	record := f.dropAs(t, table.ID, models.DroppedTable{})
	f.raises(t, "undrop", func() error {
		return f.s.UndropTable(ctx, record.ID, target.ID, "renamed", event(models.AuditTableUndropped))
	})
	next.NamespaceID = target.ID
	f.raises(t, "replacement", func() error {
		drop := models.DroppedTable{State: models.StateDropped}
		return f.s.ReplaceTable(ctx, table.ID, drop, event(models.AuditTableDropped), next, catalog.Effects{})
	})
	record = f.dropAs(t, next.ID, models.DroppedTable{})
	f.raises(t, "forgetting", func() error { return f.s.ForgetTable(ctx, record.ID, event(models.AuditTableForgotten)) })
}

func keysRaise(t *testing.T, f *fixture) {
	first, second := f.newKey(f.started), f.newKey(f.started.Add(time.Minute))
	f.raises(t, "first", func() error { return f.addKey(t, first, "", f.started) })
	f.raises(t, "second", func() error { return f.addKey(t, second, first.ID, f.started) })
	f.raises(t, "revocation", func() error {
		return f.s.RevokeSigningKeys(t.Context(), second.ID, event(models.AuditSigningKeysRevoked))
	})
}

func noEffectLeaves(t *testing.T, f *fixture) {
	ctx := t.Context()
	p, r, c := f.principal(t, "ada"), f.principalRole(t, "r"), f.catalogRole(t, "c")
	f.assign(t, p, r)
	f.give(t, r, c)
	f.grant(t, c, models.OnNamespace, f.ns.ID, models.TableList)
	token := f.token(t, models.EngineToken)
	require.NoError(t, f.s.RevokeToken(ctx, token.ID, time.Now(), event(models.AuditTokenRevoked)))
	member, role := models.PrincipalRoleMember{PrincipalID: p.ID, PrincipalRoleID: r.ID}, models.CatalogRoleMember{PrincipalRoleID: r.ID, CatalogRoleID: c.ID}
	f.leaves(t, "assign", func() error {
		return did(f.s.AssignPrincipalRole(ctx, member, event(models.AuditPrincipalRoleAssigned)))
	})
	f.leaves(t, "give", func() error { return did(f.s.AssignCatalogRole(ctx, role, event(models.AuditCatalogRoleAssigned))) })
	f.leaves(t, "grant", func() error {
		return did(f.s.AddGrant(ctx, f.newGrant(c, models.OnNamespace, f.ns.ID, models.TableList), event(models.AuditGrantAdded)))
	})
	member.PrincipalID, role.CatalogRoleID = "nobody", "nothing"
	f.leaves(t, "unassign", func() error {
		return did(f.s.RevokePrincipalRole(ctx, member, event(models.AuditPrincipalRoleRevoked)))
	})
	f.leaves(t, "take", func() error { return did(f.s.RevokeCatalogRole(ctx, role, event(models.AuditCatalogRoleRevoked))) })
	f.leaves(t, "revoke grant", func() error {
		return did(f.s.RevokeGrants(ctx, []management.RevokedGrant{{ID: "none", Event: event(models.AuditGrantRevoked)}}))
	})
	f.leaves(t, "revoke token", func() error { return f.s.RevokeToken(ctx, token.ID, time.Now(), event(models.AuditTokenRevoked)) })
	f.leaves(t, "revoke keys", func() error { return f.s.RevokeSigningKeys(ctx, "", event(models.AuditSigningKeysRevoked)) })
}

func trafficLeaves(t *testing.T, f *fixture) {
	ctx := t.Context()
	role := f.catalogRole(t, "c")
	f.grant(t, role, models.OnNamespace, f.ns.ID, models.TableList)
	granted := f.table(t, "granted")
	f.grant(t, role, models.OnTable, granted.ID, models.TableList)
	var table models.Table
	f.leaves(t, "creation", func() error { table = f.table(t, "orders"); return nil })
	f.leaves(t, "commits", func() error { table = f.commit(t, table, 1, 1); granted = f.commit(t, granted, 2, 1); return nil })
	f.leaves(t, "governance", func() error {
		return f.s.UpdateGovernance(ctx, granted, granted, event(models.AuditWritePolicyChanged))
	})
	f.leaves(t, "drop", func() error { return f.drop(t, granted.ID) })
	var short, target models.Namespace
	var view models.View
	f.leaves(t, "more creations", func() error {
		short, target, view = f.namespace(t, "short"), f.namespace(t, "target"), f.view(t, "top")
		return nil
	})
	f.leaves(t, "namespaces", func() error { return f.s.DropNamespace(ctx, short.ID, event(models.AuditNamespaceDropped)) })
	f.leaves(t, "views", func() error { return f.s.DropView(ctx, view.ID, event(models.AuditViewDropped)) })
	f.leaves(t, "moves", func() error {
		return f.s.RenameTable(ctx, table.ID, target.ID, "orders", event(models.AuditTableRenamed))
	})
	var token models.Token
	f.leaves(t, "mint", func() error { token = f.token(t, models.EngineToken); f.token(t, models.AccessToken); return nil })
	f.leaves(t, "touch", func() error { return f.s.TouchToken(ctx, token.ID, time.Now()) })
	f.leaves(t, "prune", func() error { return f.s.PruneAccessTokens(ctx, time.Now().Add(2*time.Hour)) })
	f.leaves(t, "catalog update", func() error {
		c, err := f.s.CatalogByID(ctx, f.cat.ID)
		require.NoError(t, err)
		return f.s.UpdateCatalog(ctx, c, event(models.AuditCatalogUpdated))
	})
	f.leaves(t, "audit", func() error { return f.s.AppendAudit(ctx, event(models.AuditRequestDenied)) })
}

func failureLeaves(t *testing.T, f *fixture) {
	p := f.principal(t, "ada")
	before := f.version(t)
	require.Error(t, f.s.CreatePrincipal(t.Context(), newPrincipal("ada"), event(models.AuditPrincipalCreated)))
	stale := p
	stale.Version--
	require.Error(t, f.s.ResetSecret(t.Context(), stale, event(models.AuditPrincipalSecretReset)))
	require.Error(t, f.deleteCatalog(t))
	assert.Equal(t, before, f.version(t))
}

// raisedWithChange: who reads the version and then what it is a version of never keeps old rights under a new version.
func raisedWithChange(t *testing.T, f *fixture) {
	role := f.catalogRole(t, "c")
	holder := f.reader(t, role)
	first := f.version(t)
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range 50 {
			grant := f.newGrant(role, models.OnNamespace, f.ns.ID, models.TableList)
			_, err := f.s.AddGrant(t.Context(), grant, event(models.AuditGrantAdded))
			assert.NoError(t, err)
			_, err = f.s.RevokeGrants(t.Context(), []management.RevokedGrant{{ID: grant.ID, Event: event(models.AuditGrantRevoked)}})
			assert.NoError(t, err)
		}
	}()
	for running := true; running; {
		select {
		case <-stop:
			running = false
		default:
		}
		before := f.version(t)
		held := len(f.heldBy(t, holder))
		if after := f.version(t); before == after {
			assert.Equal(t, (before-first)%2, int64(held), "an even number of changes leaves no grant")
		}
	}
}

func raisedByEach(t *testing.T, f *fixture) {
	before := f.version(t)
	const writers, each = 8, 5
	together(writers, func(int) {
		for range each {
			err := f.s.CreatePrincipal(t.Context(), newPrincipal(uuid.NewString()), event(models.AuditPrincipalCreated))
			assert.NoError(t, err)
		}
	})
	assert.GreaterOrEqual(t, f.version(t), before+writers*each)
}
