package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/setup"
)

// installed answers as an installation that has root and one catalog with a namespace.
func installed() map[string]string {
	return map[string]string{
		"GET /principal-roles":                 `{"roles":[{"name":"service_admin","federated":false,"entityVersion":1}]}`,
		"GET /principals":                      `{"principals":[{"name":"root","clearance":"restricted","properties":{},"entityVersion":1},{"name":"etl","clearance":"internal","disabled":false,"properties":{"team":"data"},"entityVersion":4}]}`,
		"GET /principals/root/principal-roles": `{"roles":[{"name":"service_admin"}]}`,
		"GET /principals/etl/principal-roles":  `{"roles":[{"name":"service_admin"}]}`,
		"GET /catalogs":                        `{"catalogs":[{"name":"main","type":"INTERNAL","entityVersion":7,"defaultWritePolicy":"governed_only","properties":{"default-base-location":"file:///w/main","owner":"a"},"storageConfigInfo":{"storageType":"FILE","allowedLocations":["file:///w/main","file:///w/more"]}}]}`,
		"GET /catalogs/main/catalog-roles":     `{"roles":[{"name":"catalog_admin","entityVersion":1},{"name":"spare","properties":{},"entityVersion":2}]}`,
		"GET /catalogs/main/catalog-roles/catalog_admin/principal-roles":      `{"roles":[{"name":"service_admin"}]}`,
		"GET /catalogs/main/catalog-roles/catalog_admin/grants":               `{"grants":[{"type":"catalog","privilege":"CATALOG_MANAGE_ACCESS"}]}`,
		"GET /catalogs/main/catalog-roles/spare/principal-roles":              `{"roles":[]}`,
		"GET /catalogs/main/catalog-roles/spare/grants":                       `{"grants":[{"type":"table","namespace":["raw"],"tableName":"t","privilege":"TABLE_DROP"}]}`,
		"GET /catalog/v1/main/namespaces?pageSize=1000&pageToken=":            `{"namespaces":[["raw"]],"next-page-token":null}`,
		"GET /catalog/v1/main/namespaces?pageSize=1000&pageToken=&parent=raw": `{"namespaces":[]}`,
		"GET /catalog/v1/main/namespaces/raw":                                 `{"namespace":["raw"],"properties":{"owner":"b","location":"file:///w/main/raw"}}`,
		"GET /governance/v1/namespaces/main%1Fraw/default-write-policy":       `{"ref":"main.raw","policy":"open_full","inherited":false}`,
	}
}

const wantedSetup = `
principals:
  etl: {clearance: public, roles: [jobs]}
  job: {disabled: true, roles: [jobs]}
principal_roles: [jobs]
catalogs:
  - name: main
    allowed_locations: [file:///w/third]
    default_write_policy: open_append
    namespaces: [{name: raw, properties: {}, default_write_policy: open_append}, raw.eu]
    roles:
      ingest: {assign_to: [jobs], privileges: {namespace: {raw.eu: [TABLE_WRITE_DATA]}, table: [{namespace: raw, table: later, privileges: [TABLE_DROP]}]}}
`

func setupFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "setup.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func changesOf(asked []string) []string {
	var changes []string
	for _, request := range asked {
		if !strings.HasPrefix(request, "GET ") {
			changes = append(changes, request)
		}
	}
	return changes
}

func TestSetupApplySendsWhatDiffers(t *testing.T) {
	t.Parallel()
	answers := installed()
	r, env := record(t, answers)
	answers["PUT /catalogs/main/catalog-roles/ingest/grants"] = "" // each grant
	file := setupFile(t, wantedSetup)
	code, out, errOut := command(env, "setup", "apply", file, "--prune", "--dry-run")
	require.Equal(t, exitOK, code, errOut)
	assert.Empty(t, changesOf(r.asked))
	assert.Equal(t, `~ catalog main: allowed location file:///w/third, no allowed location file:///w/more
+ principal role jobs
~ principal etl: clearance internal → public
+ principal job: disabled
~ default write policy of catalog main: governed_only → open_append
~ default write policy of namespace main.raw: open_full → open_append
~ namespace main.raw: no property owner
+ namespace main.raw.eu
+ catalog role main.ingest
+ TABLE_WRITE_DATA on namespace main.raw.eu for catalog role ingest
+ TABLE_DROP on table main.raw.later for catalog role ingest
+ catalog role main.ingest for principal role jobs
+ principal role jobs for principal etl
+ principal role jobs for principal job
- principal role service_admin for principal etl
- catalog role main.spare with its grants
Changes to make: 16. Nothing was done.
`, out)

	r.asked = nil
	code, out, errOut = command(env, "setup", "apply", file, "--prune")
	require.Equal(t, exitOK, code, out+errOut)
	for i, request := range changesOf(r.asked) {
		assertRequest(t, []string{
			`PUT /catalogs/main {"currentEntityVersion":7,"properties":{"owner":"a","default-base-location":"file:///w/main"},"storageConfigInfo":{"storageType":"FILE","allowedLocations":["file:///w/third"]}}`,
			`POST /principal-roles {"principalRole":{"name":"jobs","properties":{}}}`,
			`PUT /principals/etl {"currentEntityVersion":4,"properties":{"team":"data"},"clearance":"public","disabled":false}`,
			`POST /principals {"principal":{"name":"job","properties":{}}}`,
			`PUT /principals/job {"currentEntityVersion":0,"properties":{},"disabled":true}`,
			`PUT /governance/v1/catalogs/main/default-write-policy {"policy":"open_append"}`,
			`PUT /governance/v1/namespaces/main%1Fraw/default-write-policy {"policy":"open_append"}`,
			`POST /catalog/v1/main/namespaces/raw/properties {"updates":{},"removals":["owner"]}`,
			`POST /catalog/v1/main/namespaces {"namespace":["raw","eu"],"properties":{}}`,
			`POST /catalogs/main/catalog-roles {"catalogRole":{"name":"ingest","properties":{}}}`,
			`PUT /catalogs/main/catalog-roles/ingest/grants {"grant":{"type":"namespace","namespace":["raw","eu"],"privilege":"TABLE_WRITE_DATA"}}`,
			`PUT /catalogs/main/catalog-roles/ingest/grants {"grant":{"type":"table","namespace":["raw"],"tableName":"later","privilege":"TABLE_DROP"}}`,
			`PUT /principal-roles/jobs/catalog-roles/main {"catalogRole":{"name":"ingest"}}`,
			`PUT /principals/etl/principal-roles {"principalRole":{"name":"jobs"}}`,
			`PUT /principals/job/principal-roles {"principalRole":{"name":"jobs"}}`,
			`DELETE /principals/etl/principal-roles/service_admin`,
			`DELETE /catalogs/main/catalog-roles/spare`,
		}[i], request)
	}
	assert.Len(t, changesOf(r.asked), 17)
	assert.Contains(t, out, "Changes made: 16 of 16.\n")
	assert.Contains(t, out, "shown this once:\n  job  client id id  client secret s3cret\n")
}

func TestSetupApplySaysHowFarItCame(t *testing.T) {
	t.Parallel()
	answers := installed()
	answers["PUT /catalogs/main/catalog-roles/ingest/grants"] = "404"
	_, env := record(t, answers)
	code, out, errOut := command(env, "setup", "apply", setupFile(t, wantedSetup))
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, out, "not made: + TABLE_DROP on table main.raw.later for catalog role ingest\n")
	assert.Contains(t, out, "Changes made: 11 of 13.\n")
	assert.Contains(t, out, "client secret s3cret", "credentials are shown whatever comes after")
	assertOneSentence(t, errOut, "2 of 13 changes were not made, because what they are on is not there yet (namespace main.raw.eu): apply the file again")

	answers["POST /catalogs/main/catalog-roles"] = "404"
	credentials := filepath.Join(t.TempDir(), "new.json")
	code, out, errOut = command(env, "setup", "apply", setupFile(t, wantedSetup), "--credentials-file", credentials)
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "`+ catalog role main.ingest` failed: It is not there. (HTTP 404); 7 of 13 changes were made, and applying the file again goes on from there")
	assert.NotContains(t, out, "s3cret")
	assert.Contains(t, out, "in "+credentials)
	info, err := os.Stat(credentials)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	data, err := os.ReadFile(filepath.Clean(credentials))
	require.NoError(t, err)
	var written map[string]setup.Credentials
	require.NoError(t, json.Unmarshal(data, &written))
	assert.Equal(t, map[string]setup.Credentials{"job": {ClientID: "id", ClientSecret: "s3cret"}}, written)
	r, env := record(t, answers)
	code, _, errOut = command(env, "setup", "apply", setupFile(t, wantedSetup), "--credentials-file", credentials)
	assert.Equal(t, exitUsage, code)
	assertOneSentence(t, errOut, "is there already")
	assert.Empty(t, changesOf(r.asked))
}

func TestSetupApplyRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	r, env := record(t, installed())
	for text, want := range map[string]string{
		"principals:\n  etl: {rolls: [a]}\n":         `is wrong: line 2: principal etl has a member "rolls"`,
		"principals: [\n":                            "is not YAML",
		"principals: {etl: {roles: [ghosts]}}\n":     "nothing was changed: principal role ghosts of principal etl is not there",
		"catalogs: [{name: main, storage_type: s3}]": "has storage_type FILE, and cannot change to S3",
	} {
		code, _, errOut := command(env, "setup", "apply", setupFile(t, text))
		assert.NotEqual(t, exitOK, code)
		assertOneSentence(t, errOut, want)
	}
	assert.Empty(t, changesOf(r.asked))
}

func TestSetupExportIsNothingToChange(t *testing.T) {
	t.Parallel()
	r, env := record(t, installed())
	code, out, errOut := command(env, "setup", "export")
	require.Equal(t, exitOK, code, errOut)
	for _, part := range []string{"  etl:\n    type: service\n    properties:\n      team: data\n", "default_base_location: file:///w/main\n    allowed_locations:\n      - file:///w/more\n", "table: t"} {
		assert.Contains(t, out, part)
	}
	assert.NotContains(t, out, "location: file:///w/main/raw", "nobody chose that place")
	assert.Contains(t, out, "default_write_policy: open_full\n", "of the namespace")
	code, out, errOut = command(env, "setup", "apply", setupFile(t, out), "--prune")
	require.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "Nothing to change.\n", out)
	assert.Empty(t, changesOf(r.asked))
	_, out, _ = command(env, "setup", "export", "--without-locations")
	for _, absent := range []string{"location", "file:", "storage_type"} {
		assert.NotContains(t, out, absent)
	}
	_, out, _ = command(env, "setup", "apply", setupFile(t, out), "--prune")
	assert.Equal(t, "Nothing to change.\n", out)
	_, out, _ = command(env, "setup", "apply", setupFile(t, "principals: {}\n"), "-o", "json")
	assert.JSONEq(t, `{"changes":[],"made":0}`, out)
}

// A file of another server may want catalogs elsewhere: that is said first, and a refusal comes before anything is made.
func TestSetupApplyOfAnotherServersLocations(t *testing.T) {
	t.Parallel()
	answers := installed()
	answers["PUT /catalogs/main"] = "400"
	r, env := record(t, answers)
	file := setupFile(t, "principals: {new: {}}\ncatalogs: [{name: main, default_base_location: file:///elsewhere/main}]\n")
	_, out, _ := command(env, "setup", "apply", file, "--dry-run")
	assert.Contains(t, out, "~ catalog main: default_base_location file:///w/main → file:///elsewhere/main\n")
	assert.Empty(t, changesOf(r.asked))
	code, _, errOut := command(env, "setup", "apply", file)
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "write it by `sluice setup export --without-locations`; 0 of 2 changes were made")
	assert.Len(t, changesOf(r.asked), 1)
}
