package api_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// useCases stands in for the use cases: a catalog in memory that keeps what it was asked last.
type useCases struct {
	viewCases
	catalogs   map[string]models.Catalog
	namespaces map[models.NamespaceKey]map[string]string
	tables     map[string]core.TableView // by dotted name with \x1f between levels

	fail  error  // the next use case's error
	panic string // the next load panics with it

	beforeDrop func(context.Context) // runs in a drop of a table

	caller   policy.Caller
	levels   []string
	ident    models.TableIdent
	to       models.TableIdent
	page     core.Page
	purge    bool
	created  core.CreateTableInput
	register core.RegisterInput
	commits  []core.CommitInput
	props    core.PropertiesUpdate

	grant  access.GrantRequest
	minted access.MintInput
	ref    string
	policy models.WritePolicy
	govern core.GovernanceInput
	column map[string]models.Classification
	role   string
	filter *string
	audit  models.AuditFilter
	ledger models.CommitFilter
	states models.TableFilter
	state  models.TableState
	rows   int // of each list
	drops  dropCalls
	asked  asked

	checkup core.TableCheckup
}

func newUseCases() *useCases {
	return &useCases{
		catalogs:   map[string]models.Catalog{"main": {ID: "c1", Name: "main"}, "my cat+1": {ID: "c2", Name: "my cat+1"}},
		namespaces: map[models.NamespaceKey]map[string]string{},
		tables:     map[string]core.TableView{},
	}
}

func tableKey(t models.TableIdent) string { return string(models.KeyOf(t.Namespace)) + "\x1f" + t.Name }

func (u *useCases) addTable(t *testing.T, ident models.TableIdent, location string, document []byte) {
	t.Helper()
	doc, err := metadata.Parse(document)
	require.NoError(t, err)
	u.tables[tableKey(ident)] = core.TableView{Document: doc, MetadataLocation: location}
}

func (u *useCases) Resolve(_ context.Context, caller policy.Caller, name string) (models.Catalog, error) {
	u.caller = caller
	if name == "" {
		name = "main"
	}
	cat, ok := u.catalogs[name]
	if !ok {
		return cat, fault.About(fault.NotFound, fault.Catalog, "There is no catalog %s.", name)
	}
	return cat, nil
}

func (u *useCases) CreateNamespace(_ context.Context, _ policy.Caller, _ models.Catalog, in core.NamespaceInput) (core.NamespaceView, error) {
	u.levels = in.Levels
	u.namespaces[models.KeyOf(in.Levels)] = in.Properties
	return core.NamespaceView(in), u.fail
}

func (u *useCases) LoadNamespace(_ context.Context, _ policy.Caller, _ models.Catalog, levels []string) (core.NamespaceView, error) {
	u.levels = levels
	props, ok := u.namespaces[models.KeyOf(levels)]
	if !ok {
		return core.NamespaceView{}, fault.About(fault.NotFound, fault.Namespace, "Namespace does not exist: %s", models.KeyOf(levels))
	}
	return core.NamespaceView{Levels: levels, Properties: props}, u.fail
}

func (u *useCases) NamespaceExists(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) error {
	_, err := u.LoadNamespace(ctx, caller, cat, levels)
	return err
}

func (u *useCases) ListNamespaces(_ context.Context, _ policy.Caller, _ models.Catalog, parent []string, page core.Page) (core.ListPage[[]string], error) {
	u.levels, u.page = parent, page
	var keys []string
	for key := range u.namespaces {
		if key.Parent() == models.KeyOf(parent) {
			keys = append(keys, string(key))
		}
	}
	keys, next := pageOf(keys, page)
	out := core.ListPage[[]string]{Next: next}
	for _, key := range keys {
		out.Items = append(out.Items, models.NamespaceKey(key).Levels())
	}
	return out, u.fail
}

func (u *useCases) UpdateNamespaceProperties(_ context.Context, _ policy.Caller, _ models.Catalog, levels []string, in core.PropertiesUpdate) (core.PropertiesResult, error) {
	u.levels, u.props = levels, in
	return core.PropertiesResult{Missing: in.Removals}, u.fail
}

func (u *useCases) DropNamespace(_ context.Context, _ policy.Caller, _ models.Catalog, levels []string) error {
	u.levels = levels
	return u.fail
}

func (u *useCases) ListTables(_ context.Context, _ policy.Caller, _ models.Catalog, levels []string, page core.Page) (core.ListPage[models.TableIdent], error) {
	u.levels, u.page = levels, page
	var names []string
	for key := range u.tables {
		if name, ok := cutPrefix(key, string(models.KeyOf(levels))+"\x1f"); ok {
			names = append(names, name)
		}
	}
	names, next := pageOf(names, page)
	out := core.ListPage[models.TableIdent]{Next: next}
	for _, name := range names {
		out.Items = append(out.Items, models.TableIdent{Namespace: levels, Name: name})
	}
	return out, u.fail
}

func (u *useCases) CreateTable(_ context.Context, _ policy.Caller, _ models.Catalog, in core.CreateTableInput) (core.TableView, error) {
	u.created = in
	return u.view(models.TableIdent{Namespace: in.Namespace, Name: in.Name})
}

func (u *useCases) RegisterTable(_ context.Context, _ policy.Caller, _ models.Catalog, in core.RegisterInput) (core.TableView, error) {
	u.register = in
	return u.view(models.TableIdent{Namespace: in.Namespace, Name: in.Name})
}

func (u *useCases) LoadTable(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent) (core.TableView, error) {
	u.ident = ident
	if u.panic != "" {
		panic(u.panic)
	}
	return u.view(ident)
}

func (u *useCases) TableExists(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent) error {
	u.ident = ident
	_, err := u.view(ident)
	return err
}

func (u *useCases) view(ident models.TableIdent) (core.TableView, error) {
	if u.fail != nil {
		return core.TableView{}, u.fail
	}
	view, ok := u.tables[tableKey(ident)]
	if !ok {
		return view, fault.About(fault.NotFound, fault.Table, "Table does not exist: %s", ident)
	}
	return view, nil
}

func (u *useCases) CommitTable(_ context.Context, caller policy.Caller, _ models.Catalog, in core.CommitInput) (core.TableView, error) {
	u.caller, u.commits = caller, []core.CommitInput{in}
	return u.view(in.Table)
}

func (u *useCases) CommitTransaction(_ context.Context, _ policy.Caller, _ models.Catalog, in []core.CommitInput) error {
	u.commits = in
	return u.fail
}

func (u *useCases) DropTable(ctx context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent, purge bool) error {
	u.ident, u.purge = ident, purge
	if u.beforeDrop != nil {
		u.beforeDrop(ctx)
	}
	return u.fail
}

func (u *useCases) RenameTable(_ context.Context, _ policy.Caller, _ models.Catalog, from, to models.TableIdent) error {
	u.ident, u.to = from, to
	return u.fail
}

func (u *useCases) IssueAccessToken(_ context.Context, in access.GrantRequest) (access.AccessGrant, error) {
	u.grant = in
	return access.AccessGrant{AccessToken: "eyJ.1", TokenType: "bearer", IssuedTokenType: "urn:ietf:params:oauth:token-type:access_token", Scope: in.Scope, ExpiresIn: time.Hour}, u.fail
}

func (u *useCases) Authenticate(_ context.Context, bearer string) (policy.Caller, error) {
	switch bearer {
	case "good":
		return policy.Caller{
			Principal: "etl", PrincipalID: "p1", TokenID: "t1", CatalogID: "c1", EngineToken: true, Clearance: models.Internal, RoleNames: []string{"writers"},
		}, nil
	case "root":
		at := now.Add(time.Hour)
		return policy.Caller{Principal: "root", TokenID: "t0", CanGovern: true, Clearance: models.Restricted, ExpiresAt: &at}, nil
	case "admin":
		return policy.Caller{Principal: "root", TokenID: "t0", CanGovern: true, Held: policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)}, nil
	case "admin of main":
		return policy.Caller{Principal: "root", TokenID: "t0", CatalogID: "c1", Held: policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)}, nil
	case "first":
		return policy.Caller{Principal: "new one", PrincipalID: "p9", TokenID: "t9", CanGovern: true, MustRotate: true}, nil
	case "expired":
		return policy.Caller{PrincipalID: "p1", Principal: "etl", TokenID: "t8", CanGovern: true}, fault.New(fault.Unauthenticated, "The token has expired.")
	}
	return policy.Caller{}, fault.New(fault.Unauthenticated, "The token is not known.")
}

func (u *useCases) MintToken(_ context.Context, _ policy.Caller, in access.MintInput) (models.Token, string, error) {
	u.minted = in
	at := now.Add(in.ExpiresIn)
	return models.Token{ID: "tok-1", Hint: "slc_abc", CanWrite: in.CanWrite, CanGovern: in.CanGovern, ExpiresAt: &at}, "slc_abcdef", u.fail
}

func (u *useCases) ListTokens(_ context.Context, _ policy.Caller, after string, limit int) ([]access.TokenView, error) {
	u.ref = after
	var out []access.TokenView
	for i := range min(u.rows, limit) {
		out = append(out, access.TokenView{Token: models.Token{ID: "tok-" + strconv.Itoa(i), Hash: "SECRETHASH"}, Principal: "etl"})
	}
	return out, u.fail
}

func (u *useCases) RevokeToken(_ context.Context, _ policy.Caller, id string) error {
	u.ref = id
	return u.fail
}

func (u *useCases) SetWritePolicy(_ context.Context, _ policy.Caller, ref string, p models.WritePolicy) (models.TableState, error) {
	u.ref, u.policy = ref, p
	return u.state, u.fail
}

func (u *useCases) SetDefaultWritePolicy(_ context.Context, _ policy.Caller, ref string, p models.WritePolicy) error {
	u.ref, u.policy = ref, p
	return u.fail
}

func (u *useCases) DefaultWritePolicy(_ context.Context, _ policy.Caller, ref string) (core.DefaultPolicy, error) {
	u.ref = ref
	return core.DefaultPolicy{Policy: models.OpenAppend, Inherited: ref != "main"}, u.fail
}

func (u *useCases) SetGovernance(_ context.Context, _ policy.Caller, ref string, in core.GovernanceInput) (models.TableState, error) {
	u.ref, u.govern = ref, in
	return u.state, u.fail
}

func (u *useCases) TableState(_ context.Context, _ policy.Caller, ref string) (models.TableState, error) {
	u.ref = ref
	return u.state, u.fail
}

func (u *useCases) TableStates(_ context.Context, _ policy.Caller, catalog string, f models.TableFilter) (core.ListPage[models.TableState], error) {
	u.ref, u.states = catalog, f
	return core.ListPage[models.TableState]{Items: []models.TableState{u.state}, Next: "id-9"}, u.fail
}

func (u *useCases) Reconcile(_ context.Context, _ policy.Caller, ref string) (string, error) {
	u.ref = ref
	return "reconcile/u/1", u.fail
}

func (u *useCases) Commits(_ context.Context, _ policy.Caller, ref string, f models.CommitFilter) ([]core.CommitView, error) {
	u.ref, u.ledger = ref, f
	var out []core.CommitView
	removed := int64(4)
	for i := range min(u.rows, f.Limit) {
		out = append(out, core.CommitView{CatalogName: "main", Commit: models.Commit{
			ID: int64(100 - i), TableName: "a.t", SnapshotID: 9007199254740993, Kind: models.ExternalCommit,
			WriterID: "w1", Job: "j1", Unit: "checkpoint/7", RemovedRows: &removed, Partitions: models.JSON[[]models.PartitionChange]{V: []models.PartitionChange{{Partition: "day=1", RemovedRows: 4}}},
		}})
	}
	return out, u.fail
}

func (u *useCases) AuditEvents(_ context.Context, _ policy.Caller, f models.AuditFilter) ([]models.AuditEvent, error) {
	u.audit = f
	var out []models.AuditEvent
	for i := range min(u.rows, f.Limit) {
		out = append(out, models.AuditEvent{ID: int64(50 - i), Type: models.AuditTokenMinted, Catalog: "main", Namespace: "a"})
	}
	return out, u.fail
}

func pageOf(names []string, page core.Page) ([]string, string) {
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(n string) bool { return page.After != "" && n <= page.After })
	if page.Limit == 0 || len(names) <= page.Limit {
		return names, ""
	}
	return names[:page.Limit], names[page.Limit-1]
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return "", false
	}
	return s[len(prefix):], true
}
