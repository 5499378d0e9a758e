package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shell runs command lines against one serve.
type shell struct {
	t   *testing.T
	env map[string]string
}

func shellOn(t *testing.T, b bootstrapFile) shell {
	return shell{t, map[string]string{"SLUICE_URI": b.GovernanceURI, "SLUICE_TOKEN": b.Token}}
}

// as gives a shell of the principal whose credentials these are.
func (s shell) as(creds newCredentials) shell {
	return shell{s.t, map[string]string{"SLUICE_URI": s.env["SLUICE_URI"], "SLUICE_CLIENT_ID": creds.ClientID, "SLUICE_CLIENT_SECRET": creds.ClientSecret}}
}

func (s shell) run(line string) string {
	s.t.Helper()
	code, out, errOut := command(s.env, strings.Fields(line)...)
	require.Equal(s.t, exitOK, code, "%s\n%s%s", line, out, errOut)
	return out
}

func (s shell) fails(line, want string) {
	s.t.Helper()
	code, out, errOut := command(s.env, strings.Fields(line)...)
	assert.Equal(s.t, exitFailed, code, "%s\n%s", line, out)
	assert.Contains(s.t, out+errOut, want, line)
}

func (s shell) credentials(line string) newCredentials {
	s.t.Helper()
	var creds newCredentials
	require.NoError(s.t, json.Unmarshal([]byte(s.run(line+" -o json")), &creds))
	require.NotEmpty(s.t, creds.ClientSecret)
	return creds
}

// setUp gives a streaming job the least that it needs, and more of everything that an export has to hold.
func (s shell) setUp(warehouse string) newCredentials {
	s.t.Helper()
	etl := s.credentials("principals create etl --type service --clearance confidential --property team=data")
	for _, line := range []string{
		"principal-roles create writers --property for=jobs",
		"principal-roles create people --federated",
		"namespaces create --catalog main events",
		"namespaces create --catalog main events.raw --property owner=data",
		"catalog-roles create --catalog main ingest",
		"privileges namespace grant --catalog main --catalog-role ingest --namespace events TABLE_WRITE_DATA",
		"privileges --catalog main --catalog-role ingest namespace grant --namespace events.raw TABLE_LIST",
		"privileges catalog grant --catalog main --catalog-role ingest CATALOG_READ_PROPERTIES",
		"catalog-roles grant --catalog main --principal-role writers ingest",
		"catalogs create pond --storage-type file --default-base-location " + warehouse + "/pond --property owner=data",
		"catalog-roles create --catalog pond spare",
		"catalogs update pond --set-property tier=2",
		"policy set-default pond open_append",
		"policy set-default main.events open_full",
		"principals create gone",
		"principals update gone --disable",
		"principal-roles grant --principal etl writers",
	} {
		s.run(line)
	}
	return etl
}

func TestIdentityFromTheCommandLine(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	p, b := startServe(t, folder)
	root := shellOn(t, b)
	etl := root.setUp("file://" + folder + "/warehouse")

	assert.Equal(t, "yes: etl → role writers → catalog role ingest → TABLE_WRITE_DATA on namespace main.events, which implies TABLE_READ_DATA\n",
		root.run("can etl TABLE_READ_DATA main.events"))
	root.fails("can etl TABLE_DROP main.events", "no: etl does not hold TABLE_DROP on namespace main.events\n")
	assert.Contains(t, root.run("can root SERVICE_MANAGE_ACCESS"), "yes: root → role service_admin")
	assert.Regexp(t, `(?m)^writers +main.ingest +TABLE_WRITE_DATA +namespace +main.events$`, root.run("principals access etl"))
	assert.Regexp(t, `(?m)^clearance +confidential$`, root.run("principals get etl"))
	assert.Regexp(t, `(?m)^namespaces +2$`, root.run("catalogs summarize main"))
	assert.Regexp(t, `(?m)^pond +FILE +file://.*/pond +open_append`, root.run("catalogs list"))
	assert.Contains(t, root.run("catalogs list --principal-role writers"), "main")
	assert.NotContains(t, root.run("catalogs list --principal-role writers"), "pond")
	assert.Contains(t, root.run("namespaces list --catalog main --parent events"), "events.raw")

	job := root.as(etl)
	for _, want := range []string{`(?m)^principal +etl$`, `(?m)^kind +access$`, `(?m)^principalRoles +writers$`, `(?m)^clearance +confidential$`, `(?m)^expiresAt +20`} {
		assert.Regexp(t, want, job.run("whoami"))
	}
	assert.Regexp(t, `(?m)^writers +main.ingest +TABLE_WRITE_DATA +namespace +main.events$`, job.run("principals access etl"))
	assert.Equal(t, "open_full (inherited)\n", job.run("policy get-default main.events.raw"))
	assert.Equal(t, "open_append\n", root.run("policy get-default pond"))
	job.fails("policy get-default pond", "(HTTP 404)")
	assert.Regexp(t, `(?m)^principal +etl$`, job.run("tokens mint --catalog main"))
	job.fails("can etl TABLE_DROP main.absent", "The namespace main.absent does not exist.")
	root.run("principal-roles update writers --federated")
	root.run("principal-roles update writers --federated=false")
	job.fails("principals list", "(HTTP 403)")
	job.fails("principal-roles grant --principal etl service_admin", "(HTTP 40")
	job.fails("privileges namespace grant --catalog main --catalog-role ingest --namespace events TABLE_DROP", "(HTTP 403)")
	job.fails("namespaces delete --catalog main events.raw", "NAMESPACE_DROP")
	assert.NotContains(t, job.run("catalogs list"), "pond")

	rotated := job.credentials("principals rotate-credentials etl")
	assert.NotEqual(t, etl.ClientSecret, rotated.ClientSecret)
	job.run("whoami") // both are good for a while
	token := accessToken(t, bootstrapFile{CatalogURI: b.CatalogURI, rootCredentials: rootCredentials{ClientID: rotated.ClientID, ClientSecret: rotated.ClientSecret}})
	code, _ := get(t, b.GovernanceURI+"/whoami", token)
	assert.Equal(t, http.StatusOK, code)
	reset := root.credentials("principals reset etl")
	job.fails("whoami", "(HTTP 401)")
	root.as(rotated).fails("whoami", "(HTTP 401)")
	code, _ = get(t, b.GovernanceURI+"/whoami", token)
	assert.Equal(t, http.StatusUnauthorized, code)
	root.as(reset).run("whoami")
	root.run("principals update etl --disable")
	root.as(reset).fails("whoami", "(HTTP 401)")
	root.run("principals update etl --enable")

	first := root.credentials("principals create newcomer --must-rotate")
	root.as(first).fails("catalogs list", "rotate")
	root.as(root.as(first).credentials("principals rotate-credentials newcomer")).run("catalogs list")
	root.run("principals delete newcomer")

	minted := root.run("tokens mint --principal etl --principal-role writers -o json")
	assert.Contains(t, minted, `"writers"`)
	checkSetup(t, root, folder)
	p.stopServe()
}

// checkSetup: what an export says is there, and makes the same of a fresh installation.
func checkSetup(t *testing.T, root shell, folder string) {
	t.Helper()
	exported := root.run("setup export")
	assert.NotContains(t, exported, "secret")
	assert.Contains(t, exported, "disabled: true")
	apply := func(s shell, text, flags string) string {
		t.Helper()
		file := setupFile(t, text)
		return s.run("setup apply " + file + " " + flags)
	}
	assert.Equal(t, "Nothing to change.\n", apply(root, exported, "--prune"))

	other := filepath.Join(t.TempDir(), "data")
	p, b := startServe(t, other)
	fresh := shellOn(t, b)
	moved := strings.ReplaceAll(exported, folder+"/", other+"/")
	credentials := filepath.Join(t.TempDir(), "credentials.json")
	assert.Contains(t, apply(fresh, moved, "--credentials-file "+credentials), "+ TABLE_WRITE_DATA on namespace main.events for catalog role ingest\n")
	assert.Equal(t, moved, fresh.run("setup export"))
	assert.Equal(t, "Nothing to change.\n", apply(fresh, moved, "--prune"))
	assert.Contains(t, fresh.run("can etl TABLE_READ_DATA main.events"), "yes: ")
	var made map[string]newCredentials
	data, err := os.ReadFile(filepath.Clean(credentials))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &made))
	fresh.as(made["etl"]).run("whoami")
	fresh.as(made["gone"]).fails("whoami", "(HTTP 401)")

	// What says nothing of locations fits an installation that lies elsewhere; what says them would move it, and cannot.
	there := fresh.run("setup export --without-locations")
	assert.Equal(t, root.run("setup export --without-locations"), there)
	assert.Equal(t, "Nothing to change.\n", apply(root, there, "--prune"))
	file := setupFile(t, moved)
	assert.Contains(t, root.run("setup apply "+file+" --dry-run"), "~ catalog pond: default_base_location file://"+folder+"/warehouse/pond → file://"+other)
	root.fails("setup apply "+file, "`sluice setup export --without-locations`; 0 of ")

	// A file as Polaris's users write it: slashes at the end, the base location among the allowed ones.
	base := "file://" + other + "/warehouse/quick/"
	quick := "principals: {user: {roles: [users]}}\nprincipal_roles: [users]\ncatalogs:\n- name: quick\n  storage_type: file\n  default_base_location: " + base +
		"\n  allowed_locations: [" + base + "]\n  policies: {p: {namespace: dev, type: system.data-compaction}}\n  namespaces: [dev.sub]\n" +
		"  roles: {all: {assign_to: [users], privileges: {catalog: [CATALOG_MANAGE_CONTENT], namespace: {dev: [TABLE_DROP]}}}}\n"
	assert.Contains(t, apply(fresh, quick, ""), "Changes made: 10 of 10.\n")
	assert.Equal(t, "Nothing to change.\n", apply(fresh, quick, "--prune"))

	// What the file no longer lists goes with --prune, and only then.
	less := strings.ReplaceAll(moved, "- TABLE_WRITE_DATA\n", "- TABLE_READ_DATA\n")
	require.NotEqual(t, moved, less)
	assert.Contains(t, apply(fresh, less, ""), "Changes made: 1 of 1.\n")
	assert.Contains(t, fresh.run("can etl TABLE_WRITE_DATA main.events"), "yes: ")
	assert.Contains(t, apply(fresh, less, "--prune"), "- TABLE_WRITE_DATA on namespace main.events for catalog role ingest\nChanges made: 1 of 1.\n")
	fresh.fails("can etl TABLE_WRITE_DATA main.events", "no: ")
	p.stopServe()
}
