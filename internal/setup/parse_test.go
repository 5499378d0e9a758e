package setup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// whole has every form that a file may have, Polaris's and our own.
const whole = `
principals:
  etl:
    type: service
    clearance: confidential
    properties: {team: data, retries: 3}
    roles: [writers, writers]
  gone: {disabled: true, roles: []}
  bare:
principal_roles:
  - writers
  - name: people
    federated: true
    properties: {from: idp}
catalogs:
  - name: lake
    type: INTERNAL
    storage_type: s3
    default_base_location: s3://bucket/lake
    allowed_locations: [s3://bucket/other]
    region: eu-west-1
    path_style_access: true
    allowed_kms_keys: [k1]
    properties: {owner: data}
    default_write_policy: open_append
    namespaces:
      - events
      - [events, "a.b"]
      - name: raw.eu
        location: s3://bucket/raw
        properties: {owner: ops, location: s3://bucket/elsewhere}
    roles:
      ingest:
        assign_to: [writers]
        properties: {for: jobs}
        privileges:
          catalog: [CATALOG_READ_PROPERTIES]
          namespace:
            events: [TABLE_WRITE_DATA]
          table:
            - {namespace: events, table: clicks, privileges: [TABLE_GOVERN, TABLE_DROP]}
          view:
            - {namespace: [events], view: daily, privileges: [VIEW_LIST]}
        sluice_privileges: {catalog: [AUDIT_READ]}
      readers:
        privileges:
          namespace:
            - {namespace: [events, a.b], privileges: [TABLE_READ_DATA]}
      empty: {assign_to: [], privileges: {}}
    policies: [{name: compact, namespace: events, type: system.data-compaction}]
    encryption_keys: []
`

func TestParseReadsEveryForm(t *testing.T) {
	t.Parallel()
	s, notes, err := Parse([]byte(whole))
	require.NoError(t, err)
	yes := true
	assert.Equal(t, map[string]Principal{
		"etl":  {Clearance: models.Confidential, Properties: map[string]string{"team": "data", "retries": "3"}, Roles: []string{"writers"}},
		"gone": {Disabled: &yes, Roles: []string{}},
		"bare": {},
	}, s.Principals)
	assert.Equal(t, map[string]PrincipalRole{"writers": {}, "people": {Federated: new(true), Properties: map[string]string{"from": "idp"}}}, s.PrincipalRoles)
	lake := s.Catalogs["lake"]
	assert.Equal(t, Storage{"storageType": "S3", "region": "eu-west-1", "pathStyleAccess": true, "allowedKmsKeys": []string{"k1"}}, lake.Storage)
	assert.Equal(t, models.OpenAppend, lake.DefaultWritePolicy)
	assert.Equal(t, []Namespace{
		{Levels: []string{"events"}},
		{Levels: []string{"events", "a.b"}},
		{Levels: []string{"raw"}},
		{Levels: []string{"raw", "eu"}, Location: "s3://bucket/raw", Properties: map[string]string{"owner": "ops"}},
	}, lake.Namespaces)
	events := []string{"events"}
	assert.Equal(t, CatalogRole{
		Properties: map[string]string{"for": "jobs"}, AssignTo: []string{"writers"},
		Grants: []Grant{
			{Scope: models.OnCatalog, Privilege: models.CatalogReadProperties},
			{Scope: models.OnNamespace, Namespace: events, Privilege: models.TableWriteData},
			{Scope: models.OnTable, Namespace: events, Name: "clicks", Privilege: models.TableGovern},
			{Scope: models.OnTable, Namespace: events, Name: "clicks", Privilege: models.TableDrop},
			{Scope: models.OnView, Namespace: events, Name: "daily", Privilege: models.ViewList},
			{Scope: models.OnCatalog, Privilege: models.AuditRead},
		},
	}, lake.Roles["ingest"])
	assert.Equal(t, []string{"events", "a.b"}, lake.Roles["readers"].Grants[0].Namespace)
	assert.Nil(t, lake.Roles["readers"].AssignTo, "what is not said is not taken away")
	assert.NotNil(t, lake.Roles["empty"].Grants, "what is said to be empty is")
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0].Text, "policies of catalog lake are left out")
	assert.Equal(t, strings.Count(whole[:strings.Index(whole, "policies:")], "\n")+1, notes[0].Line)
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"the file is empty":                                                      "# nothing\n",
		"not YAML: line 1":                                                       "a: [",
		"more than one YAML":                                                     "principals: {}\n---\nprincipals: {}\n",
		"line 1: the file must be a":                                             "- a\n",
		`line 2: the file has a member "principal"`:                              "principals: {}\nprincipal: {}\n",
		"line 1: principals must be a map":                                       "principals: [a]\n",
		"line 3: principals has etl twice":                                       "principals:\n  etl: {}\n  etl: {}\n",
		"line 1: principal etl is of type user":                                  "principals: {etl: {type: user}}\n",
		`member "role", which there is not: it may have type`:                    "principals: {etl: {role: [a]}}\n",
		"clearance of principal etl is wrong: classification \"secret\"":         "principals: {etl: {clearance: secret}}\n",
		"disabled must be true or false":                                         "principals: {etl: {disabled: maybe}}\n",
		"roles of principal etl must be a list":                                  "principals: {etl: {roles: writers}}\n",
		"property team must be a text":                                           "principals: {etl: {properties: {team: [a]}}}\n",
		`the name "System$root" begins with SYSTEM$`:                             "principals: {System$root: {}}\n",
		`the name ".." is a name that no URL can have`:                           "principal_roles: ['..']\n",
		"line 3: principal role a is there twice":                                "principal_roles:\n  - a\n  - name: a\n",
		"line 2: a name is missing":                                              "principal_roles:\n  - properties: {}\n",
		"catalog c is of type external":                                          "catalogs: [{name: c, type: external}]\n",
		"catalog c has a connection":                                             "catalogs: [{name: c, connection: {type: hive}}]\n",
		`storage_type is "ftp"`:                                                  "catalogs: [{name: c, storage_type: ftp}]\n",
		"default_write_policy of catalog c is wrong":                             "catalogs: [{name: c, default_write_policy: open}]\n",
		"catalog c is there twice":                                               "catalogs: [{name: c}, {name: c}]\n",
		"namespace a.b is there twice":                                           "catalogs: [{name: c, namespaces: [a.b, [a, b]]}]\n",
		"a namespace has an empty level":                                         "catalogs: [{name: c, namespaces: [a..b]}]\n",
		"line 1: TABLE_WRITE cannot be granted on a namespace":                   "catalogs: [{name: c, roles: {r: {privileges: {namespace: {a: [TABLE_WRITE]}}}}}]\n",
		"CATALOG_READ_PROPERTIES cannot be granted on a table":                   "catalogs: [{name: c, roles: {r: {privileges: {table: [{namespace: a, table: t, privileges: [CATALOG_READ_PROPERTIES]}]}}}}]\n",
		"privileges of catalog role r on a table do not say on which":            "catalogs: [{name: c, roles: {r: {privileges: {table: [{namespace: a, privileges: [TABLE_DROP]}]}}}}]\n",
		`privileges of catalog role r has a member "policy"`:                     "catalogs: [{name: c, roles: {r: {privileges: {policy: []}}}}]\n",
		"line 1: an item of roles of principal etl must be a text\nline 2: prin": "principals: {etl: {roles: [[a]]}}\nprincipal_roles: a\n",
	} {
		_, _, err := Parse([]byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
	}
}

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	_, _, err := Parse(make([]byte, MaxFile+1))
	require.ErrorContains(t, err, "larger than 16 MiB")
	for _, text := range []string{"principals: &a\n  x: *a\n", "principals: &a {x: {roles: [*a]}}\n", "principals: &p\n  a: {roles: &r [w]}\n  b: {roles: *r}\n"} {
		_, _, err := Parse([]byte(text)) // ends
		_ = err
	}
}

func TestExportIsReadBack(t *testing.T) {
	t.Parallel()
	s, _, err := Parse([]byte(whole))
	require.NoError(t, err)
	file, err := Export(s)
	require.NoError(t, err)
	again, notes, err := Parse(file)
	require.NoError(t, err, string(file))
	assert.Empty(t, notes)
	assert.Empty(t, lines(Diff(s, again, true)), string(file))
	assert.Empty(t, lines(Diff(again, s, true)), string(file))
	for _, part := range []string{
		"  etl:\n    type: service\n", "retries: \"3\"", "disabled: true", "    roles: []", "  - writers\n", "federated: true",
		"storage_type: s3", "path_style_access: true", "default_write_policy: open_append",
		"      - name:\n          - events\n          - a.b\n", "        assign_to:\n          - writers\n",
		// Polaris refuses privileges that it does not know, and passes over members that it does not know.
		"        sluice_privileges:\n          catalog:\n            - AUDIT_READ\n          table:\n",
	} {
		assert.Contains(t, string(file), part)
	}
}

// TestExportQuotesWhatReadersTakeForSomethingElse: Polaris reads YAML 1.1, where yes and 1:30 are no texts.
func TestExportQuotesWhatReadersTakeForSomethingElse(t *testing.T) {
	t.Parallel()
	props := map[string]string{}
	for _, v := range []string{"yes", "off", "1:30", "0123", "null", "~", "1e3", "2026-01-01", " x ", "a: b", "# c", "*a", "", "line\nline", "ü\u2028"} {
		props[v+"#"], props["k"+v] = v, v
	}
	file, err := Export(State{Principals: map[string]Principal{"yes": {Properties: props}, "null": {}}})
	require.NoError(t, err)
	again, _, err := Parse(file)
	require.NoError(t, err, string(file))
	assert.Equal(t, props, again.Principals["yes"].Properties)
	assert.Contains(t, again.Principals, "null")
	for _, quoted := range []string{`"yes":`, `kyes: "yes"`, `koff: "off"`, `"1:30"`, `"2026-01-01"`} {
		assert.Contains(t, string(file), quoted)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("principals: &a {x: *a}\ncatalogs: [{name: c, namespaces: [[a]]}]\n"))
	f.Add([]byte("catalogs:\n- name: c\n  roles: {r: {privileges: {namespace: {a.b: [TABLE_DROP]}}}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := Parse(data)
		if err != nil {
			return
		}
		file, err := Export(s)
		require.NoError(t, err)
		again, _, err := Parse(file)
		require.NoError(t, err, string(file))
		assert.Empty(t, lines(Diff(s, again, true)), string(file))
	})
}

func lines(changes []Change) []string {
	out := make([]string, 0, len(changes))
	for _, c := range changes {
		out = append(out, c.String())
	}
	return out
}
