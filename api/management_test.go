package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

const managementPath = "/api/management/v1"

// properties wraps a row's properties.
func properties(v map[string]string) models.JSON[map[string]string] {
	return models.JSON[map[string]string]{V: v}
}

// TestEveryManagementOperation has one row for each of the 33 operations of the specification.
func TestEveryManagementOperation(t *testing.T) {
	const (
		catalog   = `{"catalog":{"type":"INTERNAL","name":"lake","properties":{"default-base-location":"s3://b/lake"},"storageConfigInfo":{"storageType":"S3"}}}`
		principal = `{"principal":{"name":"etl"}}`
		role      = `{"principalRole":{"name":"writers"}}`
		inCatalog = `{"catalogRole":{"name":"ingest"}}`
		change    = `{"currentEntityVersion":3,"properties":{"a":"b"}}`
		grant     = `{"grant":{"type":"catalog","privilege":"TABLE_LIST"}}`
	)
	s := newSite(t)
	operations := []struct {
		method, path, body string
		status             int
		calls              string
	}{
		{"GET", "/catalogs", "", 200, "ListCatalogs()"},
		{"POST", "/catalogs", catalog, 201, "CreateCatalog(lake)"},
		{"GET", "/catalogs/a%20b", "", 200, "GetCatalog(a b)"},
		{"PUT", "/catalogs/lake", change, 200, "UpdateCatalog(lake)"},
		{"DELETE", "/catalogs/lake", "", 204, "DeleteCatalog(lake)"},
		{"GET", "/principals", "", 200, "ListPrincipals()"},
		{"POST", "/principals", principal, 201, "CreatePrincipal(etl)"},
		{"GET", "/principals/e%2Ft+l", "", 200, "GetPrincipal(e/t+l)"},
		{"PUT", "/principals/etl", change, 200, "UpdatePrincipal(etl)"},
		{"DELETE", "/principals/etl", "", 204, "DeletePrincipal(etl)"},
		{"POST", "/principals/etl/rotate", "", 200, "RotateCredentials(etl)"},
		{"POST", "/principals/etl/reset", "", 200, "ResetCredentials(etl)"},
		{"GET", "/principals/etl/principal-roles", "", 200, "PrincipalRolesOf(etl)"},
		{"PUT", "/principals/etl/principal-roles", role, 201, "AssignPrincipalRole(etl,writers)"},
		{"DELETE", "/principals/etl/principal-roles/writers", "", 204, "RevokePrincipalRole(etl,writers)"},
		{"GET", "/principal-roles", "", 200, "ListPrincipalRoles()"},
		{"POST", "/principal-roles", role, 201, "CreatePrincipalRole(writers)"},
		{"GET", "/principal-roles/writers", "", 200, "GetPrincipalRole(writers)"},
		{"PUT", "/principal-roles/writers", change, 200, "UpdatePrincipalRole(writers)"},
		{"DELETE", "/principal-roles/writers", "", 204, "DeletePrincipalRole(writers)"},
		{"GET", "/principal-roles/writers/principals", "", 200, "PrincipalsOf(writers)"},
		{"GET", "/principal-roles/writers/catalog-roles/lake", "", 200, "CatalogRolesOf(writers,lake)"},
		{"PUT", "/principal-roles/writers/catalog-roles/lake", inCatalog, 201, "AssignCatalogRole(writers,lake,ingest)"},
		{"DELETE", "/principal-roles/writers/catalog-roles/lake/ingest", "", 204, "RevokeCatalogRole(writers,lake,ingest)"},
		{"GET", "/catalogs/lake/catalog-roles", "", 200, "ListCatalogRoles(lake)"},
		{"POST", "/catalogs/lake/catalog-roles", inCatalog, 201, "CreateCatalogRole(lake,ingest)"},
		{"GET", "/catalogs/lake/catalog-roles/ingest", "", 200, "GetCatalogRole(lake,ingest)"},
		{"PUT", "/catalogs/lake/catalog-roles/ingest", change, 200, "UpdateCatalogRole(lake,ingest)"},
		{"DELETE", "/catalogs/lake/catalog-roles/ingest", "", 204, "DeleteCatalogRole(lake,ingest)"},
		{"GET", "/catalogs/lake/catalog-roles/ingest/principal-roles", "", 200, "PrincipalRolesWith(lake,ingest)"},
		{"GET", "/catalogs/lake/catalog-roles/ingest/grants", "", 200, "ListGrants(lake,ingest)"},
		{"PUT", "/catalogs/lake/catalog-roles/ingest/grants", grant, 201, "AddGrant(lake,ingest)"},
		{"POST", "/catalogs/lake/catalog-roles/ingest/grants", grant, 201, "RevokeGrant(lake,ingest)"},
	}
	require.Len(t, operations, 33)
	for _, op := range operations {
		s.admin.calls, s.admin.fail = nil, nil
		r := s.do(op.method, managementPath+op.path, op.body)
		require.Equal(t, op.status, r.StatusCode, "%s %s: %s", op.method, op.path, r.body)
		require.Equal(t, []string{op.calls}, s.admin.calls)
		require.Equal(t, "no-store", r.Header.Get("Cache-Control"))

		require.Equal(t, 401, s.do(op.method, managementPath+op.path, op.body, "Authorization", "").StatusCode, op.path)
		s.admin.fail = fault.About(fault.NotFound, fault.Role, "There is no such thing.")
		kind, message := s.do(op.method, managementPath+op.path, op.body).failure(t)
		require.Equal(t, "NoSuchRoleException", kind, op.path)
		require.Equal(t, "There is no such thing.", message)
	}
}

func TestCatalogsOnTheWire(t *testing.T) {
	s := newSite(t)
	at := time.UnixMilli(1767225600123).UTC()
	s.admin.catalogs = []models.Catalog{{
		Name: "lake", BaseLocation: "s3://b/lake", AllowedLocations: models.JSON[[]string]{V: []string{"s3://b/more"}},
		DefaultWritePolicy: models.GovernedOnly, Properties: properties(map[string]string{"team": "data"}), Version: 4, CreatedAt: at, UpdatedAt: at.Add(time.Second),
		Storage: models.JSON[models.StorageConfig]{V: models.StorageConfig{Type: models.S3Storage, RoleARN: "arn:r", PathStyleAccess: true}},
	}}
	const want = `{"type":"INTERNAL","name":"lake","properties":{"default-base-location":"s3://b/lake","team":"data"},
		"createTimestamp":1767225600123,"lastUpdateTimestamp":1767225601123,"entityVersion":4,"defaultWritePolicy":"governed_only",
		"storageConfigInfo":{"storageType":"S3","allowedLocations":["s3://b/lake","s3://b/more"],"roleArn":"arn:r","pathStyleAccess":true}}`
	require.JSONEq(t, want, string(s.do("GET", managementPath+"/catalogs/lake", "").body))
	require.JSONEq(t, `{"catalogs":[`+want+`]}`, string(s.do("GET", managementPath+"/catalogs", "").body))
	require.Equal(t, map[string]string{"team": "data"}, s.admin.catalogs[0].Properties.V, "the row is not written to")

	for location, kind := range map[string]string{"file:///w": "FILE", "gs://b": "GCS", "s3a://b": "S3", "abfss://c@a.dfs.core.windows.net/x": "AZURE"} {
		s.admin.catalogs = []models.Catalog{{Name: "main", BaseLocation: location}}
		storage := s.do("GET", managementPath+"/catalogs/main", "").json(t)["storageConfigInfo"].(map[string]any)
		require.Equal(t, kind, storage["storageType"], "of a catalog that names no storage")
		require.Equal(t, []any{location}, storage["allowedLocations"])
		require.Equal(t, kind == "AZURE", storage["tenantId"] != nil, "clients require it there")
	}
	s.admin.catalogs = nil
	require.JSONEq(t, `{"catalogs":[]}`, string(s.do("GET", managementPath+"/catalogs", "").body))
}

// TestCreateCatalogAsPolarisClientsDo has the members that Polaris's generated client sends, nulls and all.
func TestCreateCatalogAsPolarisClientsDo(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", managementPath+"/catalogs", `{"catalog":{"type":"INTERNAL","name":"lake","connectionConfigInfo":null,"createTimestamp":null,
		"properties":{"default-base-location":"s3://b/lake/","team":"data"},"newInTheNextRelease":{"a":1},
		"storageConfigInfo":{"storageType":"S3","allowedLocations":["s3://b/lake","s3://b/more"],"storageName":null,"roleArn":"arn:r","externalId":"x",
		"userArn":"u","currentKmsKey":"k","allowedKmsKeys":["k"],"encryptionKeys":null,"decryptionKeys":null,"region":"eu-1","endpoint":"http://e",
		"stsEndpoint":"http://s","stsUnavailable":true,"endpointInternal":"http://i","pathStyleAccess":true,"kmsUnavailable":true}}}`)
	require.Equal(t, 201, r.StatusCode, "%s", r.body)
	require.Equal(t, management.NewCatalog{
		Name: "lake", BaseLocation: "s3://b/lake/", AllowedLocations: []string{"s3://b/more"}, Properties: map[string]string{"team": "data"},
		Storage: models.StorageConfig{
			Type: models.S3Storage, RoleARN: "arn:r", ExternalID: "x", UserARN: "u", CurrentKMSKey: "k", AllowedKMSKeys: []string{"k"}, Region: "eu-1",
			Endpoint: "http://e", STSEndpoint: "http://s", STSUnavailable: true, EndpointInternal: "http://i", PathStyleAccess: true, KMSUnavailable: true,
		},
	}, s.admin.newCatalog)

	s.do("POST", managementPath+"/catalogs", `{"catalog":{"name":"az","properties":{"default-base-location":"abfss://c@a/x"},
		"storageConfigInfo":{"storageType":"azure","tenantId":"t","multiTenantAppName":"m","consentUrl":"u","hierarchical":true,"roleArn":"of S3"}}}`)
	require.Equal(t, models.StorageConfig{Type: models.AzureStorage, TenantID: "t", MultiTenantAppName: "m", ConsentURL: "u", Hierarchical: true}, s.admin.newCatalog.Storage)
	s.do("POST", managementPath+"/catalogs", `{"catalog":{"name":"g","properties":{"default-base-location":"gs://b/x"},
		"storageConfigInfo":{"storageType":"GCS","gcsServiceAccount":"a","storageName":"n"}}}`)
	require.Equal(t, models.StorageConfig{Type: models.GCSStorage, GCSServiceAccount: "a", Name: "n"}, s.admin.newCatalog.Storage)
}

func TestUpdateCatalog(t *testing.T) {
	s := newSite(t)
	put := func(body string) reply { return s.do("PUT", managementPath+"/catalogs/lake", body) }
	put(`{"currentEntityVersion":7,"properties":{"default-base-location":"s3://b/l2","a":"b"}}`)
	require.Equal(t, management.CatalogChange{Version: 7, BaseLocation: "s3://b/l2", Properties: map[string]string{"a": "b"}}, s.admin.catalogChange)
	put(`{"currentEntityVersion":7,"properties":null,"storageConfigInfo":{"storageType":"S3","allowedLocations":["s3://c"],"region":"eu"}}`)
	require.Equal(t, management.CatalogChange{
		Version: 7, AllowedLocations: []string{"s3://c"}, Storage: &models.StorageConfig{Type: models.S3Storage, Region: "eu"},
	}, s.admin.catalogChange, "what is not named stays")
	put(`{"currentEntityVersion":7,"storageConfigInfo":{"storageType":"S3","allowedLocations":[]}}`)
	require.NotNil(t, s.admin.catalogChange.AllowedLocations, "none besides the base location")

	s.admin.fail = fault.New(fault.Conflict, "Its version is 8, not 7: read it again.")
	require.Equal(t, 409, put(`{"currentEntityVersion":7}`).StatusCode)
}

func TestPrincipalsOnTheWire(t *testing.T) {
	s := newSite(t)
	at := time.UnixMilli(1767225600000).UTC()
	s.admin.principals = []models.Principal{{
		Name: "etl", ClientID: "c1", SecretHash: "HASH", PreviousSecretHash: "HASH", Properties: properties(map[string]string{"a": "b"}),
		Clearance: models.Confidential, Version: 2, CreatedAt: at, UpdatedAt: at,
	}}
	const want = `{"name":"etl","clientId":"c1","properties":{"a":"b"},"createTimestamp":1767225600000,"lastUpdateTimestamp":1767225600000,
		"entityVersion":2,"clearance":"confidential","disabled":false}`
	require.JSONEq(t, want, string(s.do("GET", managementPath+"/principals/etl", "").body))
	require.JSONEq(t, `{"principals":[`+want+`]}`, string(s.do("GET", managementPath+"/principals", "").body))
	require.JSONEq(t, `{"principals":[`+want+`]}`, string(s.do("GET", managementPath+"/principal-roles/r/principals", "").body))

	r := s.do("POST", managementPath+"/principals", `{"principal":{"name":"etl","type":null,"clientId":"ignored","properties":{"a":"b"},"clearance":"restricted"},"credentialRotationRequired":true}`)
	require.JSONEq(t, `{"principal":`+want+`,"credentials":{"clientId":"id","clientSecret":"shown once"}}`, string(r.body))
	require.Equal(t, management.NewPrincipal{Name: "etl", Properties: map[string]string{"a": "b"}, Clearance: models.Restricted, RotationRequired: true}, s.admin.newPrincipal)

	s.do("PUT", managementPath+"/principals/etl", `{"currentEntityVersion":2,"properties":{}}`)
	require.Equal(t, management.PrincipalChange{Version: 2, Properties: map[string]string{}}, s.admin.change, "clearance and disabled stay")
	s.do("PUT", managementPath+"/principals/etl", `{"currentEntityVersion":2,"properties":{},"clearance":"public","disabled":false}`)
	require.Equal(t, models.Public, s.admin.change.Clearance)
	require.False(t, *s.admin.change.Disabled)

	require.Equal(t, "rotated", s.do("POST", managementPath+"/principals/etl/rotate", "").json(t)["credentials"].(map[string]any)["clientSecret"])
	for _, body := range []string{"", "null", "{}", `{"clientId":null}`} {
		require.Equal(t, 200, s.do("POST", managementPath+"/principals/etl/reset", body).StatusCode, body)
		require.Zero(t, s.admin.wanted)
	}
	s.do("POST", managementPath+"/principals/etl/reset", `{"clientId":"own","clientSecret":"a secret of one's own"}`)
	require.Equal(t, management.Credentials{ClientID: "own", ClientSecret: "a secret of one's own"}, s.admin.wanted)
}

func TestRolesOnTheWire(t *testing.T) {
	s := newSite(t)
	at := time.UnixMilli(1767225600000).UTC()
	s.admin.roles = []models.PrincipalRole{{Name: "writers", Federated: true, Version: 1, CreatedAt: at, UpdatedAt: at}}
	s.admin.inCatalog = []models.CatalogRole{{Name: "ingest", Version: 5, CreatedAt: at, UpdatedAt: at}}
	const stamps = `"createTimestamp":1767225600000,"lastUpdateTimestamp":1767225600000`
	const principalRole = `{"name":"writers","federated":true,"properties":{},` + stamps + `,"entityVersion":1}`
	const catalogRole = `{"name":"ingest","properties":{},` + stamps + `,"entityVersion":5}`
	for path, want := range map[string]string{
		"/principal-roles/writers": principalRole, "/catalogs/lake/catalog-roles/ingest": catalogRole,
		"/principal-roles": `{"roles":[` + principalRole + `]}`, "/principals/etl/principal-roles": `{"roles":[` + principalRole + `]}`,
		"/catalogs/lake/catalog-roles/ingest/principal-roles": `{"roles":[` + principalRole + `]}`,
		"/catalogs/lake/catalog-roles":                        `{"roles":[` + catalogRole + `]}`, "/principal-roles/writers/catalog-roles/lake": `{"roles":[` + catalogRole + `]}`,
	} {
		require.JSONEq(t, want, string(s.do("GET", managementPath+path, "").body), path)
	}
	s.do("POST", managementPath+"/principal-roles", `{"principalRole":{"name":"sso","federated":true,"properties":{"a":"b"},"entityVersion":null}}`)
	require.Equal(t, management.NewRole{Name: "sso", Federated: true, Properties: map[string]string{"a": "b"}}, s.admin.newRole)
	federated := false
	s.do("PUT", managementPath+"/principal-roles/writers", `{"currentEntityVersion":1,"properties":{},"federated":false}`)
	require.Equal(t, management.RoleChange{Version: 1, Properties: map[string]string{}, Federated: &federated}, s.admin.roleChange)
	s.do("PUT", managementPath+"/principal-roles/writers", `{"currentEntityVersion":1,"properties":{}}`)
	require.Nil(t, s.admin.roleChange.Federated, "as it is")
	require.Equal(t, 400, s.do("PUT", managementPath+"/catalogs/lake/catalog-roles/ingest", `{"currentEntityVersion":5,"properties":{},"federated":true}`).StatusCode)
	s.do("PUT", managementPath+"/catalogs/lake/catalog-roles/ingest", `{"currentEntityVersion":5,"properties":{"a":"c"}}`)
	require.Equal(t, management.RoleChange{Version: 5, Properties: map[string]string{"a": "c"}}, s.admin.roleChange)
}

func TestGrantsOnTheWire(t *testing.T) {
	s := newSite(t)
	const path = managementPath + "/catalogs/lake/catalog-roles/ingest/grants"
	for body, want := range map[string]management.GrantInput{
		`{"type":"catalog","privilege":"CATALOG_MANAGE_CONTENT"}`:                             {Scope: models.OnCatalog, Privilege: models.CatalogManageContent},
		`{"type":"namespace","namespace":["a","b.c"],"privilege":"TABLE_WRITE_DATA"}`:         {Scope: models.OnNamespace, Namespace: []string{"a", "b.c"}, Privilege: models.TableWriteData},
		`{"type":"table","namespace":["a"],"tableName":"t","privilege":"TABLE_READ_DATA"}`:    {Scope: models.OnTable, Namespace: []string{"a"}, Name: "t", Privilege: models.TableReadData},
		`{"type":"view","namespace":["a"],"viewName":"v","privilege":"VIEW_READ_PROPERTIES"}`: {Scope: models.OnView, Namespace: []string{"a"}, Name: "v", Privilege: models.ViewReadProperties},
	} {
		require.Equal(t, 201, s.do("PUT", path, `{"grant":`+body+`}`).StatusCode, body)
		require.Equal(t, want, s.admin.grant)
		s.admin.grants = []management.GrantInput{want}
		require.JSONEq(t, `{"grants":[`+body+`]}`, string(s.do("GET", path, "").body))
	}
	for query, cascade := range map[string]bool{"": false, "?cascade=false": false, "?cascade=true": true, "?cascade=True": true} {
		require.Equal(t, 201, s.do("POST", path+query, `{"grant":{"type":"catalog","privilege":"TABLE_LIST"}}`).StatusCode)
		require.Equal(t, cascade, s.admin.cascade, query)
	}
	require.Equal(t, 400, s.do("POST", path+"?cascade=perhaps", `{"grant":{"type":"catalog","privilege":"TABLE_LIST"}}`).StatusCode)
}

// TestOwnPrivilegesDoNotBreakPolarisClients: their enumerations do not have them, and they would refuse the whole list.
func TestOwnPrivilegesDoNotBreakPolarisClients(t *testing.T) {
	s := newSite(t)
	const path = managementPath + "/catalogs/lake/catalog-roles/ingest/grants"
	for _, p := range []models.Privilege{models.TableGovern, models.TableList, models.AuditRead, models.DataRead, models.DataWrite} {
		s.admin.grants = append(s.admin.grants, management.GrantInput{Scope: models.OnCatalog, Privilege: p})
	}
	require.Len(t, s.do("GET", path, "").json(t)["grants"], 5)
	r := s.do("GET", path, "", "User-Agent", "OpenAPI-Generator/1.0.0/python")
	require.JSONEq(t, `{"grants":[{"type":"catalog","privilege":"TABLE_LIST"}]}`, string(r.body))
	require.Equal(t, "4", r.Header.Get("X-Sluice-Grants-Left-Out"))
	require.Len(t, s.admin.grants, 5)
}

func TestManagementBodiesThatAreWrong(t *testing.T) {
	const (
		catalogs = "POST /catalogs"
		grants   = "PUT /catalogs/lake/catalog-roles/r/grants"
		base     = `"properties":{"default-base-location":"s3://b/x"}`
	)
	for _, tt := range [][3]string{
		{catalogs, `{}`, `"catalog" is required`},
		{catalogs, `{"catalog":{"type":"EXTERNAL","name":"x",` + base + `,"storageConfigInfo":{"storageType":"S3"}}}`, "serves no external catalogs"},
		{catalogs, `{"catalog":{"name":"x",` + base + `,"connectionConfigInfo":{"uri":"u"},"storageConfigInfo":{"storageType":"S3"}}}`, "external catalogs"},
		{catalogs, `{"catalog":{"name":"x",` + base + `}}`, `"catalog.storageConfigInfo" is required`},
		{catalogs, `{"catalog":{"name":"x",` + base + `,"storageConfigInfo":{"storageType":"TAPE"}}}`, "S3, GCS, AZURE or FILE"},
		{catalogs, `{"catalog":{"name":"x",` + base + `,"storageConfigInfo":{"storageType":"AZURE"}}}`, "tenantId"},
		{catalogs, `{"catalog":{"name":"x","properties":{},"storageConfigInfo":{"storageType":"S3"}}}`, "default-base-location"},
		{catalogs, `{"catalog":{"name":"","properties":{"default-base-location":"s3://b"},"storageConfigInfo":{"storageType":"S3"}}}`, `"catalog.name" must not be empty`},
		{catalogs, `[]`, "must be a JSON object"},
		{"PUT /catalogs/x", `{"properties":{}}`, `"currentEntityVersion" is required`},
		{"PUT /catalogs/x", `{"currentEntityVersion":"1"}`, "must be a whole number, not a string"},
		{"PUT /catalogs/x", `{"currentEntityVersion":1.5}`, "must be a whole number"},
		{"PUT /principals/x", `{"currentEntityVersion":1}`, `"properties" is required`},
		{"PUT /principals/x", `{"currentEntityVersion":1,"properties":{},"clearence":"public"}`, `"clearence" is unknown`},
		{"PUT /principals/x", `{"currentEntityVersion":1,"properties":{},"clearance":"top"}`, `"clearance" is wrong`},
		{"POST /principals", `{"principal":{"name":"x","disabled":true}}`, "disabled"},
		{"POST /principals", `{"principal":{"name":"x","properties":{"a":1}}}`, `"principal.properties.a"`},
		{"POST /principals/x/reset", `{"secret":"x"}`, `"secret" is unknown`},
		{"PUT /principals/x/principal-roles", `{"principalRole":{}}`, `"principalRole.name" is required`},
		{"POST /principal-roles", `{"principalRole":{"name":"x","federate":true}}`, `"principalRole.federate" is unknown`},
		{"POST /catalogs/lake/catalog-roles", `{"catalogRole":{"name":"x","federated":true}}`, `"catalogRole.federated" is unknown`},
		{grants, `{"grant":{"type":"policy","namespace":["a"],"policyName":"p","privilege":"POLICY_READ"}}`, "Sluice has no such objects"},
		{grants, `{"grant":{"type":"tables","privilege":"TABLE_LIST"}}`, "catalog, namespace, table or view"},
		{grants, `{"grant":{"privilege":"TABLE_LIST"}}`, `"grant.type" is required`},
		{grants, `{"grant":{"type":"catalog"}}`, `"grant.privilege" is required`},
		{grants, `{"grant":{"type":"table","namespace":["a"],"privilege":"TABLE_LIST"}}`, `"grant.tableName" is required`},
		{grants, `{"grant":{"type":"catalog","namespace":["a"],"privilege":"TABLE_LIST"}}`, `"grant.namespace" is unknown`},
		{grants, `{"grant":{"type":"namespace","namespace":[],"privilege":"TABLE_LIST"}}`, "at least one level"},
		{grants, `{"grant":{"type":"namespace","namespace":["a",""],"privilege":"TABLE_LIST"}}`, "no empty level"},
		{grants, `{"grant":{"type":"namespace","namespace":["a\u001fb"],"privilege":"TABLE_LIST"}}`, "unit separator"},
	} {
		s := newSite(t)
		method, path, _ := strings.Cut(tt[0], " ")
		r := s.do(method, managementPath+path, tt[1])
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, tt)
		require.Contains(t, message, tt[2])
		require.Empty(t, s.admin.calls, "nothing is asked of the use cases")
	}
}

func TestPolarisExtensionsAreEmpty(t *testing.T) {
	s := newSite(t)
	s.namespaces[models.KeyOf([]string{"a", "b"})] = nil
	for _, mount := range []string{"/api/catalog", "/api/table/iceberg"} {
		require.JSONEq(t, `{"applicable-policies":[]}`, string(s.do("GET", mount+"/polaris/v1/main/applicable-policies?namespace=a", "").body))
		require.JSONEq(t, `{"identifiers":[]}`, string(s.do("GET", mount+"/polaris/v1/main/namespaces/a%1Fb/policies", "").body))
		require.JSONEq(t, `{"identifiers":[]}`, string(s.do("GET", mount+"/polaris/v1/main/namespaces/a%1Fb/generic-tables", "").body))
		require.Equal(t, 404, s.do("GET", mount+"/polaris/v1/main/namespaces/z/policies", "").StatusCode)
		require.Equal(t, 401, s.do("GET", mount+"/polaris/v1/main/applicable-policies", "", "Authorization", "").StatusCode)
	}
}
