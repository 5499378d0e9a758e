package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a server that takes down what it is asked.
type recorder struct {
	mu      sync.Mutex
	asked   []string // METHOD path body
	answers map[string]string
}

// record starts one. An answer is found by method and path; where there is none a GET gets what every object has.
func record(t *testing.T, answers map[string]string) (*recorder, map[string]string) {
	t.Helper()
	r := &recorder{answers: answers}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return r, map[string]string{"SLUICE_URI": s.URL, "SLUICE_TOKEN": "t0ken"}
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(req.Body)
	what := req.Method + " " + strings.TrimPrefix(strings.TrimPrefix(req.URL.RequestURI(), managementPath), "/api")
	r.asked = append(r.asked, strings.TrimSpace(what+" "+string(body)))
	answer, known := r.answers[what]
	switch {
	case known:
	case req.Method == http.MethodGet:
		answer = `{"name":"x","entityVersion":9007199254740993,"properties":{"old":"1"},"storageConfigInfo":{"storageType":"S3","allowedLocations":["s3://b/a"]}}`
	case req.Method == http.MethodPost && !strings.Contains(what, "/grants"):
		answer = `{"principal":{"name":"x"},"credentials":{"clientId":"id","clientSecret":"s3cret"}}`
	case req.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.WriteHeader(http.StatusCreated)
		return
	}
	if strings.HasPrefix(answer, "400") {
		w.WriteHeader(http.StatusBadRequest)
		answer = `{"error":{"message":"That cannot be.","type":"BadRequestException","code":400}}`
	}
	if strings.HasPrefix(answer, "404") {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"error":{"message":"It is not there.","type":"NoSuchTableException","code":404}}`
	}
	_, _ = w.Write([]byte(answer))
}

// TestLinesBecomeRequests: lines as they are typed for Polaris's own command, and what they ask for.
func TestLinesBecomeRequests(t *testing.T) {
	t.Parallel()
	const version = `"currentEntityVersion":9007199254740993`
	for line, want := range map[string][]string{
		"catalogs create lake --type INTERNAL --storage-type s3 --default-base-location s3://b/lake --allowed-location s3://b/a --allowed-location s3://b/c --role-arn arn --external-id e --user-arn u --region r --endpoint http://e --endpoint-internal http://i --sts-endpoint http://s --no-sts --no-kms --path-style-access --allowed-kms-key k --storage-name n --property a=b=c": {
			`POST /catalogs {"catalog":{"type":"INTERNAL","name":"lake","properties":{"a":"b=c","default-base-location":"s3://b/lake"},"storageConfigInfo":{"storageType":"S3","storageName":"n","allowedLocations":["s3://b/a","s3://b/c"],"roleArn":"arn","externalId":"e","userArn":"u","region":"r","endpoint":"http://e","endpointInternal":"http://i","stsEndpoint":"http://s","stsUnavailable":true,"kmsUnavailable":true,"pathStyleAccess":true,"allowedKmsKeys":["k"]}}}`,
		},
		"catalogs create lake --storage-type azure --default-base-location abfss://c@a/x --tenant-id t --multi-tenant-app-name m --consent-url u --hierarchical": {
			`POST /catalogs {"catalog":{"type":"INTERNAL","name":"lake","properties":{"default-base-location":"abfss://c@a/x"},"storageConfigInfo":{"storageType":"AZURE","allowedLocations":[],"tenantId":"t","multiTenantAppName":"m","consentUrl":"u","hierarchical":true}}}`,
		},
		"catalogs create lake --storage-type gcs --default-base-location gs://b --service-account a": {
			`POST /catalogs {"catalog":{"type":"INTERNAL","name":"lake","properties":{"default-base-location":"gs://b"},"storageConfigInfo":{"storageType":"GCS","allowedLocations":[],"gcsServiceAccount":"a"}}}`,
		},
		"catalogs delete a/b": {"DELETE /catalogs/a%2Fb"},
		"catalogs get lake":   {"GET /catalogs/lake"},
		"catalogs list":       {"GET /catalogs"},
		"catalogs update lake --set-property new=2 --remove-property old --default-base-location s3://b/n --allowed-location s3://b/d --region r2 --no-sts": {
			"GET /catalogs/lake",
			`PUT /catalogs/lake {` + version + `,"properties":{"new":"2","default-base-location":"s3://b/n"},"storageConfigInfo":{"storageType":"S3","allowedLocations":["s3://b/a","s3://b/d"],"region":"r2","stsUnavailable":true}}`,
		},
		"catalogs update lake --set-property new=2": {
			"GET /catalogs/lake", `PUT /catalogs/lake {` + version + `,"properties":{"old":"1","new":"2"}}`,
		},

		"principals create etl --type service --property team=data": {
			`POST /principals {"credentialRotationRequired":false,"principal":{"name":"etl","properties":{"team":"data"}}}`,
		},
		"principals create etl --clearance restricted --must-rotate": {
			`POST /principals {"credentialRotationRequired":true,"principal":{"name":"etl","clearance":"restricted","properties":{}}}`,
		},
		"principals delete etl":                    {"DELETE /principals/etl"},
		"principals get etl":                       {"GET /principals/etl"},
		"principals list":                          {"GET /principals"},
		"principals list --principal-role writers": {"GET /principal-roles/writers/principals"},
		"principals update etl --set-property a=b": {
			"GET /principals/etl", `PUT /principals/etl {` + version + `,"properties":{"a":"b","old":"1"}}`,
		},
		"principals update etl --clearance public --disable": {
			"GET /principals/etl", `PUT /principals/etl {` + version + `,"properties":{"old":"1"},"clearance":"public","disabled":true}`,
		},
		"principals update etl --enable": {
			"GET /principals/etl", `PUT /principals/etl {` + version + `,"properties":{"old":"1"},"disabled":false}`,
		},
		"principals rotate-credentials etl":                            {"POST /principals/etl/rotate"},
		"principals reset etl":                                         {"POST /principals/etl/reset"},
		"principals reset etl --new-client-id i --new-client-secret s": {`POST /principals/etl/reset {"clientId":"i","clientSecret":"s"}`},

		"principal-roles create writers --property a=b":             {`POST /principal-roles {"principalRole":{"name":"writers","properties":{"a":"b"}}}`},
		"principal-roles create people --federated":                 {`POST /principal-roles {"principalRole":{"name":"people","properties":{},"federated":true}}`},
		"principal-roles delete writers":                            {"DELETE /principal-roles/writers"},
		"principal-roles get writers":                               {"GET /principal-roles/writers"},
		"principal-roles list":                                      {"GET /principal-roles"},
		"principal-roles list --principal etl":                      {"GET /principals/etl/principal-roles"},
		"principal-roles list --catalog-role ingest --catalog lake": {"GET /catalogs/lake/catalog-roles/ingest/principal-roles"},
		"principal-roles update writers --remove-property old": {
			"GET /principal-roles/writers", `PUT /principal-roles/writers {` + version + `,"properties":{}}`,
		},
		"principal-roles grant --principal etl writers": {`PUT /principals/etl/principal-roles {"principalRole":{"name":"writers"}}`},
		"principal-roles update writers --federated": {
			"GET /principal-roles/writers", `PUT /principal-roles/writers {` + version + `,"properties":{"old":"1"},"federated":true}`,
		},
		"principal-roles update writers --federated=false --set-property a=b": {
			"GET /principal-roles/writers", `PUT /principal-roles/writers {` + version + `,"properties":{"a":"b","old":"1"},"federated":false}`,
		},
		"principal-roles revoke --principal etl writers": {"DELETE /principals/etl/principal-roles/writers"},

		"catalog-roles create --catalog lake ingest --property a=b": {`POST /catalogs/lake/catalog-roles {"catalogRole":{"name":"ingest","properties":{"a":"b"}}}`},
		"catalog-roles delete --catalog lake ingest":                {"DELETE /catalogs/lake/catalog-roles/ingest"},
		"catalog-roles get --catalog lake ingest":                   {"GET /catalogs/lake/catalog-roles/ingest"},
		"catalog-roles list lake":                                   {"GET /catalogs/lake/catalog-roles"},
		"catalog-roles list lake --principal-role writers":          {"GET /principal-roles/writers/catalog-roles/lake"},
		"catalog-roles update ingest --catalog lake --set-property a=b": {
			"GET /catalogs/lake/catalog-roles/ingest", `PUT /catalogs/lake/catalog-roles/ingest {` + version + `,"properties":{"a":"b","old":"1"}}`,
		},
		"catalog-roles grant --catalog lake --principal-role writers ingest":  {`PUT /principal-roles/writers/catalog-roles/lake {"catalogRole":{"name":"ingest"}}`},
		"catalog-roles revoke --catalog lake --principal-role writers ingest": {"DELETE /principal-roles/writers/catalog-roles/lake/ingest"},

		"privileges list --catalog lake --catalog-role ingest": {"GET /catalogs/lake/catalog-roles/ingest/grants"},
		"privileges catalog grant --catalog lake --catalog-role ingest CATALOG_READ_PROPERTIES": {
			`PUT /catalogs/lake/catalog-roles/ingest/grants {"grant":{"type":"catalog","privilege":"CATALOG_READ_PROPERTIES"}}`,
		},
		"privileges --catalog lake --catalog-role ingest namespace grant --namespace a.b TABLE_WRITE_DATA": {
			`PUT /catalogs/lake/catalog-roles/ingest/grants {"grant":{"type":"namespace","namespace":["a","b"],"privilege":"TABLE_WRITE_DATA"}}`,
		},
		"privileges table --namespace a grant TABLE_GOVERN --table t --catalog lake --catalog-role ingest": {
			`PUT /catalogs/lake/catalog-roles/ingest/grants {"grant":{"type":"table","namespace":["a"],"tableName":"t","privilege":"TABLE_GOVERN"}}`,
		},
		"privileges view revoke --catalog lake --catalog-role ingest --namespace a --view v VIEW_DROP": {
			`POST /catalogs/lake/catalog-roles/ingest/grants {"grant":{"type":"view","namespace":["a"],"viewName":"v","privilege":"VIEW_DROP"}}`,
		},
		"privileges namespace revoke --cascade --catalog lake --catalog-role ingest --namespace a TABLE_DROP": {
			`POST /catalogs/lake/catalog-roles/ingest/grants?cascade=true {"grant":{"type":"namespace","namespace":["a"],"privilege":"TABLE_DROP"}}`,
		},

		"namespaces create --catalog lake a.b --location s3://b/x --property k=v": {
			`POST /catalog/v1/lake/namespaces {"namespace":["a","b"],"properties":{"k":"v","location":"s3://b/x"}}`,
		},
		"namespaces list --catalog lake":              {"GET /catalog/v1/lake/namespaces?pageSize=1000&pageToken="},
		"namespaces list --catalog lake --parent a.b": {"GET /catalog/v1/lake/namespaces?pageSize=1000&pageToken=&parent=a%1Fb"},
		"namespaces get --catalog lake a.b":           {"GET /catalog/v1/lake/namespaces/a%1Fb"},
		"namespaces delete --catalog lake a.b":        {"DELETE /catalog/v1/lake/namespaces/a%1Fb"},

		"tokens mint --catalog lake":        {`POST /governance/v1/tokens {"catalog":"lake","canWrite":true}`},
		"policy get-default lake":           {"GET /governance/v1/catalogs/lake/default-write-policy"},
		"policy get-default lake.events.eu": {"GET /governance/v1/namespaces/lake.events.eu/default-write-policy"},
		"tokens mint --principal etl --principal-role a --principal-role b": {
			`POST /governance/v1/tokens {"principal":"etl","canWrite":true,"principalRoles":["a","b"]}`,
		},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r, env := record(t, nil)
			code, out, errOut := command(env, strings.Fields(line)...)
			require.Equal(t, exitOK, code, out+errOut)
			require.Len(t, r.asked, len(want), r.asked)
			for i, request := range r.asked {
				assertRequest(t, want[i], request)
			}
		})
	}
}

// assertRequest compares two of a recorder's requests; the order of members says nothing.
func assertRequest(t *testing.T, want, got string) {
	t.Helper()
	wantLine, wantBody, hasBody := strings.Cut(want, " {")
	gotLine, gotBody, sentBody := strings.Cut(got, " {")
	assert.Equal(t, wantLine, gotLine)
	if assert.Equal(t, hasBody, sentBody, got) && hasBody {
		assert.JSONEq(t, "{"+wantBody, "{"+gotBody)
		assert.Equal(t, strings.Count(want, "9007199254740993"), strings.Count(got, "9007199254740993"), "a version changed")
	}
}

func TestLinesThatAreWrong(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"catalogs create lake":                   "--storage-type and --default-base-location are missing",
		"catalogs create lake --storage-type s3": "--default-base-location is missing",
		"catalogs create":                        "CATALOG is missing",
		"catalogs create lake --type external --storage-type s3 --default-base-location s3://b":               "internal catalogs alone",
		"catalogs create lake --storage-type ftp --default-base-location s3://b":                              "not one of s3, azure, gcs, file",
		"catalogs create lake --storage-type file --default-base-location file:///b --region r":               "--region is for storage of type s3, and this is file",
		"catalogs create lake --storage-type azure --default-base-location abfss://b":                         "--tenant-id is missing",
		"catalogs create lake --storage-type s3 --default-base-location s3://b --property a":                  `property "a" is not KEY=VALUE`,
		"catalogs create lake --storage-type s3 --default-base-location s3://b --property a=1 --property a=2": "property a is given twice",
		"catalogs update lake --tenant-id t":                                                                  "--tenant-id is for storage of type azure, and this is s3",
		"principals create etl --clearance secret":                                                            "public, internal, confidential, restricted",
		"principals create etl --type user":                                                                   "not service",
		"principals update etl --disable --enable":                                                            "exclude each other",
		"principal-roles grant writers":                                                                       "--principal is missing",
		"principal-roles list --catalog-role r":                                                               "--catalog is missing",
		"catalog-roles grant ingest":                                                                          "--catalog and --principal-role are missing",
		"catalog-roles list":                                                                                  "CATALOG is missing",
		"privileges table grant --catalog c --catalog-role r --namespace n TABLE_DROP":                        "--table is missing",
		"privileges catalog grant --catalog c --catalog-role r --namespace n TABLE_DROP":                      "--namespace does not go with privileges on a catalog",
		"privileges view grant --catalog c --catalog-role r --namespace n --view v TABLE_DROP":                `"TABLE_DROP" is not a privilege on a view`,
		"privileges table grant --cascade --catalog c --catalog-role r --namespace n --table t TABLE_DROP":    "unknown flag: --cascade",
		"namespaces list":                  "--catalog is missing",
		"can etl":                          "PRIVILEGE is missing",
		"can etl TABLE_READ main":          `there is no privilege "TABLE_READ"`,
		"can etl TABLE_READ_DATA main.a b": `"b" is one argument too many`,
		"setup apply":                      "FILE is missing",
		"setup apply /nowhere/at/all":      "/nowhere/at/all cannot be read",
		"whoami --client-id i --token t":   "not both",
		"whoami --client-secret s":         "no client id",
		"whoami --client-id i":             "no client secret",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r, env := record(t, nil)
			delete(env, "SLUICE_TOKEN")
			if !strings.HasPrefix(line, "whoami") {
				env["SLUICE_TOKEN"] = "t"
			}
			code, _, errOut := command(env, strings.Fields(line)...)
			assert.Equal(t, exitUsage, code)
			assertOneSentence(t, errOut, want)
			for _, request := range r.asked {
				assert.True(t, strings.HasPrefix(request, "GET "), "something was changed: %s", request)
			}
		})
	}
}

func TestCredentialsAreShownForPeopleAndForScripts(t *testing.T) {
	t.Parallel()
	_, env := record(t, nil)
	_, out, errOut := command(env, "principals", "create", "x")
	assert.Equal(t, "principal      x\nclient id      id\nclient secret  s3cret\nThe secret is not shown again.\n", out, errOut)
	_, out, _ = command(env, "principals", "reset", "x", "-o", "json")
	assert.JSONEq(t, `{"name":"x","clientId":"id","clientSecret":"s3cret"}`, out)
}

func TestListsOfTheManagementAPI(t *testing.T) {
	t.Parallel()
	_, env := record(t, map[string]string{
		"GET /principals":                           `{"principals":[{"name":"etl","clientId":"c","clearance":"internal","disabled":false,"entityVersion":9007199254740993}]}`,
		"GET /principal-roles":                      `{"roles":[]}`,
		"GET /catalogs/lake/catalog-roles/r/grants": `{"grants":[{"type":"table","namespace":["a","b"],"tableName":"t","privilege":"TABLE_DROP"},{"type":"catalog","privilege":"TABLE_LIST"}]}`,
		"GET /principals/etl":                       `{"name":"etl","createTimestamp":1767225600000}`,
	})
	_, out, errOut := command(env, "principals", "list")
	assert.Regexp(t, `(?m)^etl +c +internal +no +9007199254740993$`, out, errOut)
	_, out, _ = command(env, "principals", "list", "-o", "json")
	assert.Contains(t, out, `"entityVersion": 9007199254740993`)
	code, out, errOut := command(env, "principal-roles", "list")
	assert.Equal(t, exitOK, code)
	assert.Empty(t, out)
	assert.Equal(t, "No principal roles.\n", errOut)
	_, out, _ = command(env, "privileges", "list", "--catalog", "lake", "--catalog-role", "r")
	assert.Regexp(t, `(?m)^TABLE_DROP +table +lake.a.b.t$`, out)
	assert.Regexp(t, `(?m)^TABLE_LIST +catalog +lake$`, out)
	_, out, _ = command(env, "principals", "get", "etl")
	assert.Regexp(t, `(?m)^createTimestamp +2026-01-01T00:00:00Z$`, out)
}

func TestAccessIsShownAsPolarisShowsIt(t *testing.T) {
	t.Parallel()
	_, env := record(t, map[string]string{
		"GET /principals/etl/principal-roles":             `{"roles":[{"name":"writers"},{"name":"idle"}]}`,
		"GET /catalogs":                                   `{"catalogs":[{"name":"lake"}]}`,
		"GET /principal-roles/writers/catalog-roles/lake": `{"roles":[{"name":"ingest"}]}`,
		"GET /principal-roles/idle/catalog-roles/lake":    `{"roles":[]}`,
		"GET /catalogs/lake/catalog-roles/ingest/grants":  `{"grants":[{"type":"namespace","namespace":["a"],"privilege":"TABLE_WRITE_DATA"}]}`,
	})
	_, out, errOut := command(env, "principals", "access", "etl", "-o", "json")
	assert.JSONEq(t, `{"principal":"etl","principal_roles":[
		{"name":"writers","catalog_roles":[{"name":"ingest","catalog":"lake","privileges":[{"type":"namespace","namespace":["a"],"privilege":"TABLE_WRITE_DATA"}]}]},
		{"name":"idle","catalog_roles":[]}]}`, out, errOut)
	_, out, _ = command(env, "principals", "access", "etl")
	assert.Regexp(t, `(?m)^writers +lake.ingest +TABLE_WRITE_DATA +namespace +lake.a$`, out)
	assert.Regexp(t, `(?m)^idle +- +- +- +-$`, out)
}

func TestCanAnswersAndExits(t *testing.T) {
	t.Parallel()
	_, env := record(t, map[string]string{
		"GET /governance/v1/access?object=main.events&principal=etl&privilege=TABLE_READ_DATA": `{"allowed":true,"object":"main.events","scope":"namespace","ways":[
			{"principalRole":"writers","catalogRole":"ingest","grant":{"type":"namespace","namespace":["events"],"privilege":"TABLE_WRITE_DATA"},"on":"main.events","implies":true},
			{"principalRole":"readers","catalogRole":"all","grant":{"type":"catalog","privilege":"TABLE_READ_DATA"},"on":"main"}]}`,
		"GET /governance/v1/access?object=main.events.clicks&principal=etl&privilege=TABLE_DROP": `{"allowed":false,"object":"main.events.clicks","scope":"table","ways":[],"roles":["writers"],"catalogRoles":[],"advice":"Grant it: sluice privileges …"}`,
		"GET /governance/v1/access?principal=root&privilege=SERVICE_MANAGE_ACCESS":               `{"allowed":true,"ways":[{"principalRole":"service_admin","on":""}]}`,
	})
	code, out, errOut := command(env, "can", "etl", "TABLE_READ_DATA", "main.events")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "yes: etl → role writers → catalog role ingest → TABLE_WRITE_DATA on namespace main.events, which implies TABLE_READ_DATA\n"+
		" or: etl → role readers → catalog role all → TABLE_READ_DATA on catalog main\n", out)
	code, out, errOut = command(env, "can", "etl", "TABLE_DROP", "main.events.clicks")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, errOut)
	assert.Equal(t, "no: etl does not hold TABLE_DROP on table main.events.clicks\n    its principal roles: writers\n    their catalog roles there: none\n    Grant it: sluice privileges …\n", out)
	code, out, _ = command(env, "can", "root", "SERVICE_MANAGE_ACCESS")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "yes: root → role service_admin → SERVICE_MANAGE_ACCESS\n", out)
	code, out, errOut = command(env, "can", "etl", "TABLE_DROP", "main.events.clicks", "-o", "json")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, errOut)
	var answer map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &answer))
	assert.Equal(t, false, answer["allowed"])
}

// TestClientCredentialsGetAToken: once for all calls of a command, with every role, and never beside a token.
func TestClientCredentialsGetAToken(t *testing.T) {
	t.Parallel()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, r.ParseForm())
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		switch {
		case r.URL.Path != "/sluice/api/catalog/v1/oauth/tokens":
			_, _ = w.Write([]byte(`{"entityVersion":1,"properties":{}}`))
		case r.PostForm.Get("client_secret") != "s":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"invalid_client","error_description":"The secret is wrong."}`))
		default:
			assert.Equal(t, "client_credentials", r.PostForm.Get("grant_type"))
			assert.Equal(t, "i", r.PostForm.Get("client_id"))
			assert.Equal(t, "PRINCIPAL_ROLE:ALL", r.PostForm.Get("scope"))
			_, _ = w.Write([]byte(`{"access_token":"fresh","token_type":"bearer"}`))
		}
	}))
	t.Cleanup(s.Close)
	env := map[string]string{"SLUICE_URI": s.URL + "/sluice/api/catalog"}
	code, _, errOut := command(env, "--client-id", "i", "--client-secret", "s", "whoami")
	require.Equal(t, exitOK, code, errOut)
	code, _, errOut = command(env, "--client-id", "i", "version")
	assert.Equal(t, exitUsage, code)
	assertOneSentence(t, errOut, "unknown flag: --client-id")
	asked, env["SLUICE_CLIENT_SECRET"] = nil, "s"
	code, _, errOut = command(env, "principals", "update", "etl", "--enable", "--client-id", "i")
	require.Equal(t, exitOK, code, errOut)
	assert.Equal(t, []string{
		"POST /sluice/api/catalog/v1/oauth/tokens ", "GET /sluice/api/management/v1/principals/etl Bearer fresh", "PUT /sluice/api/management/v1/principals/etl Bearer fresh",
	}, asked)
	code, _, errOut = command(env, "whoami", "--client-id", "i", "--client-secret", "wrong")
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "The secret is wrong. (HTTP 401)")
	asked = nil
	env["SLUICE_TOKEN"], env["SLUICE_CLIENT_ID"] = "given", "i"
	code, _, errOut = command(env, "whoami")
	require.Equal(t, exitOK, code, errOut)
	assert.Equal(t, []string{"GET /sluice/api/governance/v1/whoami Bearer given"}, asked)
}
