package setup

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// lived is an installation that has been in use.
const lived = `
principals:
  root: {roles: [service_admin], clearance: restricted}
  etl: {clearance: internal, properties: {team: data, old: x}, roles: [writers, readers]}
  other: {roles: [readers]}
principal_roles: [service_admin, writers, readers, {name: people, federated: true}]
catalogs:
  - name: lake
    storage_type: file
    default_base_location: file:///lake
    allowed_locations: [file:///more]
    default_write_policy: governed_only
    namespaces: [{name: events, default_write_policy: governed_only, properties: {owner: a, old: x}}]
    roles:
      catalog_admin: {assign_to: [service_admin, readers], privileges: {catalog: [CATALOG_MANAGE_ACCESS, AUDIT_READ]}}
      ingest:
        assign_to: [writers, readers]
        privileges: {catalog: [TABLE_LIST], namespace: {events: [TABLE_WRITE_DATA]}}
      spare: {privileges: {catalog: [TABLE_LIST]}}
`

func mustParse(t *testing.T, text string) State {
	t.Helper()
	s, _, err := Parse([]byte(text))
	require.NoError(t, err, text)
	return s
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file  string
		prune bool
		want  []string
	}{
		"nothing said":          {file: "principals: {}\n", prune: true},
		"as it is":              {file: lived},
		"as it is, and no more": {file: lived, prune: true},
		"in a safe order": {file: `
principals: {job: {clearance: public, disabled: true, properties: {a: b}}}
principal_roles: [{name: jobs, federated: true, properties: {for: jobs}}]
catalogs:
  - name: pond
    storage_type: file
    default_base_location: file:///pond
    default_write_policy: open_append
    namespaces: [{name: raw.eu, default_write_policy: open_full}]
    roles:
      catalog_admin: {assign_to: [service_admin], privileges: {catalog: [CATALOG_MANAGE_ACCESS]}}
      ingest: {assign_to: [jobs], privileges: {table: [{namespace: raw.eu, table: t, privileges: [TABLE_WRITE_DATA]}], namespace: {raw: [TABLE_LIST]}}}
`, want: []string{
			"+ catalog pond: file:///pond",
			"+ principal role jobs: federated, property for=jobs",
			"+ principal job: disabled, clearance public, property a=b",
			"~ default write policy of catalog pond: governed_only → open_append",
			"+ namespace pond.raw",
			"+ namespace pond.raw.eu",
			"~ default write policy of namespace pond.raw.eu: inherited → open_full",
			"+ catalog role pond.ingest",
			"+ TABLE_LIST on namespace pond.raw for catalog role ingest",
			"+ TABLE_WRITE_DATA on table pond.raw.eu.t for catalog role ingest",
			"+ catalog role pond.ingest for principal role jobs",
		}},
		"what changes": {file: `
principals: {etl: {clearance: confidential, disabled: true, properties: {team: ops}}}
principal_roles: [{name: readers, federated: true}, {name: people, federated: false}]
catalogs:
  - name: lake
    storage_type: file
    default_base_location: file:/pond/
    allowed_locations: [file:///lake, file:///third/]
    endpoint: http://x
    properties: {owner: me}
    default_write_policy: open_full
    namespaces: [{name: events, default_write_policy: open_full, properties: {owner: b}}]
    roles: {ingest: {properties: {a: b}}}
`, want: []string{
			"~ catalog lake: default_base_location file:///lake → file:/pond/, allowed location file:///third/, endpoint http://x, property owner=me",
			"~ principal role people: not federated",
			"~ principal role readers: federated",
			"~ principal etl: disabled, clearance internal → confidential, property team=ops",
			"~ default write policy of catalog lake: governed_only → open_full",
			"~ default write policy of namespace lake.events: governed_only → open_full",
			"~ namespace lake.events: property owner=b",
			"~ catalog role lake.ingest: property a=b",
		}},
		"nothing goes unasked": {file: "principals: {etl: {roles: []}}\ncatalogs: [{name: lake, roles: {}}]\n"},
		"no more than listed": {prune: true, file: `
principals: {etl: {properties: {team: data}, roles: [writers]}}
catalogs:
  - name: lake
    allowed_locations: []
    namespaces: [{name: events, properties: {owner: a}}]
    roles: {ingest: {assign_to: [writers], privileges: {catalog: [TABLE_LIST]}}}
`, want: []string{
			"~ catalog lake: no allowed location file:///more",
			"~ principal etl: no property old",
			"~ namespace lake.events: no property old",
			"- catalog role lake.ingest for principal role readers",
			"- principal role readers for principal etl",
			"- TABLE_WRITE_DATA on namespace lake.events for catalog role ingest",
			"- catalog role lake.spare with its grants",
		}},
		"what is not said stays": {prune: true, file: "principals: {etl: {}}\ncatalogs: [{name: lake}, {name: lake2, storage_type: file, default_base_location: file:///x}]\n", want: []string{
			"+ catalog lake2: file:///x",
		}},
		"the administrators stay": {prune: true, file: `
principals: {root: {roles: []}}
catalogs: [{name: lake, roles: {catalog_admin: {assign_to: [], privileges: {}}, ingest: , spare: }}]
`, want: []string{
			"- catalog role lake.catalog_admin for principal role readers",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := Diff(mustParse(t, lived), mustParse(t, tt.file), tt.prune)
			assert.Equal(t, append([]string{}, tt.want...), lines(changes))
		})
	}
}

func TestChangesCarryTheWholeObject(t *testing.T) {
	t.Parallel()
	current := mustParse(t, lived)
	etl := current.Principals["etl"]
	etl.Version = 7
	current.Principals["etl"] = etl
	changes := Diff(current, mustParse(t, "principals: {etl: {clearance: public}}\ncatalogs: [{name: lake, storage_type: file, region: r}]\n"), true)
	require.Len(t, changes, 2)
	assert.Equal(t, Principal{Version: 7, Clearance: models.Public, Properties: etl.Properties, Roles: etl.Roles}, changes[1].PrincipalState)
	assert.Equal(t, "file:///lake", changes[0].CatalogState.BaseLocation)
	assert.Equal(t, Storage{"storageType": "FILE", "region": "r"}, changes[0].CatalogState.Storage)
}

func TestCheckSaysWhyAFileCannotBeApplied(t *testing.T) {
	t.Parallel()
	file := `
principals: {etl: {roles: [writers, ghosts, new]}, root: {disabled: true}, sluice: {}}
principal_roles: [{name: readers, federated: true}, {name: new, federated: true}, {name: service_admin, federated: true}]
catalogs:
  - name: lake
    storage_type: s3
    roles: {ingest: {assign_to: [phantoms, new]}}
  - name: pond
    storage_type: s3
  - {name: a.b, storage_type: s3, default_base_location: "s3://a"}
  - {name: v1, storage_type: s3, default_base_location: "s3://a"}
`
	assert.Equal(t, []string{
		"principal role service_admin cannot be federated",
		"principal role ghosts of principal etl is not there: add it to principal_roles",
		"principal role new of principal etl is federated: its identity provider says who has it",
		"principal root cannot be disabled",
		"principal sluice cannot be made: the audit names so what the server does by itself",
		"catalog a.b cannot be made: its name must have no dot, slash or space, and not be v1 or namespaces",
		"catalog lake has storage_type FILE, and cannot change to S3",
		"principal role phantoms of catalog role lake.ingest is not there: add it to principal_roles",
		"catalog pond is to be made: say its storage_type and default_base_location",
		"catalog v1 cannot be made: its name must have no dot, slash or space, and not be v1 or namespaces",
	}, Check(mustParse(t, lived), mustParse(t, file)))
	assert.Empty(t, Check(mustParse(t, lived), mustParse(t, lived)))
}

func TestApplyLeavesOutWhatIsNotThereYet(t *testing.T) {
	t.Parallel()
	w := newWorld()
	wanted := mustParse(t, "catalogs: [{name: lake, storage_type: file, default_base_location: file:///l, roles: {r: {privileges: {catalog: [TABLE_LIST]}}}}]\n")
	var creds []string
	apply := func() ([]Skipped, error) {
		return Apply(t.Context(), w, Diff(w.State, wanted, false), func(_ Change, c *Credentials) error {
			if c != nil {
				creds = append(creds, c.ClientID)
			}
			return nil
		})
	}
	_, err := apply()
	require.NoError(t, err)
	wanted.Principals = map[string]Principal{"a": {}, "b": {}, "c": {}}
	w.failOn = "+ principal b"
	_, err = apply()
	require.EqualError(t, err, "`+ principal b` failed: the server broke; 1 of 3 changes were made, and applying the file again goes on from there")
	assert.Equal(t, []string{"id-a"}, creds, "credentials are told of before anything can fail")
	w.failOn = ""
	_, err = apply()
	require.NoError(t, err)
	assert.Equal(t, []string{"id-a", "id-b", "id-c"}, creds)
	assert.Empty(t, Diff(w.State, wanted, true))
}

// TestDiffReachesWhatIsWanted: from any state to any other, each step is possible, nothing is left to do afterwards,
// and without prune nothing is lost.
func TestDiffReachesWhatIsWanted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 5))
		w, first, second := newWorld(), randomFile(r), randomFile(r)
		apply(t, w, first, false, seed)
		before := mustParse(t, exported(t, w.State))
		prune := seed%2 == 0
		apply(t, w, second, prune, seed)
		if !prune {
			assertKept(t, before, w.State, seed)
		}
		file := exported(t, w.State)
		fresh := newWorld()
		apply(t, fresh, mustParse(t, file), false, seed)
		require.Equal(t, file, exported(t, fresh.State), "seed %d: an export makes another installation", seed)
	}
}

func apply(t *testing.T, w *world, wanted State, prune bool, seed uint64) {
	t.Helper()
	require.Empty(t, Check(w.State, wanted), "seed %d", seed)
	changes := Diff(w.State, wanted, prune)
	skipped, err := Apply(t.Context(), w, changes, func(c Change, creds *Credentials) error {
		require.Equal(t, c.Kind == OfPrincipal && c.Action == Add, creds != nil)
		return nil
	})
	require.NoError(t, err, "seed %d: %s", seed, strings.Join(lines(changes), "\n"))
	require.Empty(t, skipped)
	require.Empty(t, lines(Diff(w.State, wanted, prune)), "seed %d: there is more to do after\n%s", seed, strings.Join(lines(changes), "\n"))
}

func exported(t *testing.T, s State) string {
	t.Helper()
	file, err := Export(s)
	require.NoError(t, err)
	return string(file)
}

func assertKept(t *testing.T, before, after State, seed uint64) {
	t.Helper()
	// What the changed state lacks of the old one is what a diff back would add.
	for _, c := range Diff(after, before, false) {
		require.NotEqual(t, Add, c.Action, "seed %d: lost %s", seed, c)
	}
}

func randomFile(r *rand.Rand) State {
	some := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(string) bool { return r.IntN(2) == 0 })
	}
	properties := func() map[string]string {
		if r.IntN(3) == 0 {
			return nil
		}
		out := map[string]string{}
		for _, key := range some("a", "b") {
			out[key] = fmt.Sprint(r.IntN(2))
		}
		return out
	}
	roles := []string{"x", "y", "z"}
	s := State{PrincipalRoles: map[string]PrincipalRole{}, Principals: map[string]Principal{}, Catalogs: map[string]Catalog{}}
	for _, name := range roles {
		s.PrincipalRoles[name] = PrincipalRole{Properties: properties(), Federated: []*bool{nil, new(false)}[r.IntN(2)]}
	}
	for _, name := range some("p", "q", models.RootPrincipal) {
		p := Principal{Properties: properties(), Clearance: []models.Classification{"", models.Public, models.Restricted}[r.IntN(3)]}
		if r.IntN(2) == 0 {
			p.Roles = some(roles...)
		}
		if b := r.IntN(2) == 0; r.IntN(2) == 0 && name != models.RootPrincipal {
			p.Disabled = &b
		}
		s.Principals[name] = p
	}
	for _, name := range some("c", "d") {
		c := Catalog{BaseLocation: "file:///" + name, Storage: Storage{"storageType": "FILE"}, Properties: properties()}
		if r.IntN(2) == 0 {
			c.AllowedLocations = some("file:///1", "file:///2")
		}
		c.DefaultWritePolicy = []models.WritePolicy{"", models.OpenAppend, models.OpenFull}[r.IntN(3)]
		listed := map[string]Namespace{}
		for _, ns := range some("n", "n.m", "k.l.m") {
			levels := strings.Split(ns, ".")
			listed[namespaceKey(levels)] = Namespace{
				Levels: levels, Properties: properties(), DefaultWritePolicy: []models.WritePolicy{"", models.OpenAppend, models.OpenFull}[r.IntN(3)],
			}
		}
		c.Namespaces = withParents(listed)
		if r.IntN(4) > 0 {
			c.Roles = map[string]CatalogRole{}
			for _, role := range some("r", "s", "t", models.CatalogAdminRole) {
				c.Roles[role] = randomRole(r, properties(), some(roles...))
			}
		}
		s.Catalogs[name] = c
	}
	return s
}

func randomRole(r *rand.Rand, properties map[string]string, assignTo []string) CatalogRole {
	role := CatalogRole{Properties: properties}
	if r.IntN(2) == 0 {
		role.AssignTo = assignTo
	}
	if r.IntN(4) == 0 {
		return role
	}
	role.Grants = []Grant{}
	for _, g := range []Grant{
		{Scope: models.OnCatalog, Privilege: models.TableList},
		{Scope: models.OnNamespace, Namespace: []string{"n"}, Privilege: models.TableList},
		{Scope: models.OnNamespace, Namespace: []string{"n", "m"}, Privilege: models.TableWriteData},
		{Scope: models.OnTable, Namespace: []string{"n"}, Name: "t", Privilege: models.TableDrop},
		{Scope: models.OnView, Namespace: []string{"n"}, Name: "t", Privilege: models.ViewDrop},
	} {
		if r.IntN(2) == 0 {
			role.Grants = append(role.Grants, g)
		}
	}
	return role
}

// A file without locations is nothing to change where the same lies elsewhere, and cannot make a catalog.
func TestWithoutLocations(t *testing.T) {
	t.Parallel()
	here := mustParse(t, lived)
	here.Catalogs["lake"].Namespaces[0].Location = "file:///lake/elsewhere"
	file := exported(t, here.WithoutLocations())
	for _, word := range []string{"location", "file:", "storage"} {
		assert.NotContains(t, file, word)
	}
	there := mustParse(t, strings.ReplaceAll(lived, "file:///", "file:///other/"))
	assert.Empty(t, Check(there, mustParse(t, file)))
	assert.Empty(t, lines(Diff(there, mustParse(t, file), true)))
	delete(there.Catalogs, "lake")
	assert.Equal(t, []string{"catalog lake is to be made: say its storage_type and default_base_location"}, Check(there, mustParse(t, file)))
	assert.Contains(t, exported(t, here), "location: file:///lake/elsewhere", "the state is as it was")
}

func TestDiffDoesNotChangeWhatItIsGiven(t *testing.T) {
	t.Parallel()
	current, wanted := mustParse(t, lived), mustParse(t, whole)
	wanted.Catalogs["lake"] = Catalog{AllowedLocations: []string{}, Properties: map[string]string{}}
	wanted.Principals = maps.Clone(wanted.Principals)
	before := exported(t, current)
	Diff(current, wanted, true)
	assert.Equal(t, before, exported(t, current))
}
