package management_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func catalogPath(d *desk) policy.Path { return policy.Path{CatalogID: d.catalog("main").ID} }

func TestCreateCatalog(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	made, err := d.CreateCatalog(ctx, root, management.NewCatalog{
		Name: "sales", BaseLocation: "s3a://lake/sluice/sales/", AllowedLocations: []string{"s3://lake/sluice/sales", "s3n://lake/sluice/landing", "s3://lake/sluice/landing"},
		Properties: map[string]string{"owner": "ada", "default-base-location": "s3a://lake/sluice/sales/"},
		Storage:    models.StorageConfig{Type: models.S3Storage, Region: "eu-central-1", RoleARN: "arn:aws:iam::1:role/r"},
	})
	require.NoError(t, err)
	require.Equal(t, "s3://lake/sluice/sales", made.BaseLocation)
	require.Equal(t, []string{"s3://lake/sluice/landing"}, made.AllowedLocations.V)
	require.Equal(t, map[string]string{"owner": "ada"}, made.Properties.V)
	require.Equal(t, models.GovernedOnly, made.DefaultWritePolicy)
	require.Equal(t, "eu-central-1", made.Storage.V.Region)
	require.EqualValues(t, 1, made.Version)
	require.Equal(t, made, d.catalog("sales"))

	// Root administers it at once, and is no steward of it.
	roles, err := d.ListCatalogRoles(ctx, d.root(), "sales")
	require.NoError(t, err)
	require.Equal(t, []string{models.CatalogAdminRole}, catalogRoleNames(roles))
	at := policy.Path{CatalogID: made.ID}
	require.True(t, d.root().Has(models.TableWriteData, at))
	require.False(t, d.root().Has(models.TableGovern, at))

	events := d.events(models.AuditCatalogCreated)
	require.Len(t, events, 2, "main's and its own")
	require.Equal(t, "sales", events[0].Catalog)
	require.Equal(t, "root", events[0].Principal)
	require.Equal(t, []any{"owner"}, events[0].Details.V["propertiesSet"])
}

func TestStorageFitsLocation(t *testing.T) {
	d := newDesk(t)
	for i, c := range []struct {
		base    string
		allowed []string
		storage models.StorageType
		says    string // "" where it fits
	}{
		{"file:///wh/a", nil, models.FileStorage, ""},
		{"/wh/b", nil, "", ""},
		{"s3://lake/sluice/c", nil, models.S3Storage, ""},
		{"s3a://lake/sluice/d", nil, "", ""},
		{"file:///wh/e", nil, models.S3Storage, "FILE"},
		{"s3://lake/sluice/e", nil, models.FileStorage, "S3"},
		{"s3://lake/sluice/e", nil, models.GCSStorage, "S3"},
		{"s3://lake/sluice/e", nil, "HDFS", "HDFS"},
		{"s3://lake/sluice/e", []string{"file:///wh/e"}, models.S3Storage, "FILE"},
		{"file:///elsewhere/e", nil, models.FileStorage, "file:///wh or s3://lake/sluice"},
		{"file:///whx", nil, models.FileStorage, "warehouses"},
		{"s3://lake/sluicebox", nil, models.S3Storage, "warehouses"},
		{"s3://other/sluice", nil, models.S3Storage, "warehouses"},
		{"file:///wh/e", []string{"file:///etc"}, models.FileStorage, "warehouses"},
		{"file:///wh/../etc", nil, models.FileStorage, ".."},
		{"gs://bucket/e", nil, models.GCSStorage, "warehouses"},
		{"hdfs://namenode/e", nil, "", "scheme"},
		{"", nil, models.FileStorage, "default-base-location"},
	} {
		_, err := d.CreateCatalog(t.Context(), d.root(), management.NewCatalog{
			Name: fmt.Sprintf("c%d", i), BaseLocation: c.base, AllowedLocations: c.allowed, Storage: models.StorageConfig{Type: c.storage},
		})
		if c.says == "" {
			require.NoError(t, err, c.base)
			continue
		}
		wantFault(t, err, fault.Invalid, c.says)
	}
}

func TestCatalogsLieApart(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	d.table(d.namespace("events"), "clicks") // of main, at file:///wh/events/clicks
	create := func(name, base string, allowed ...string) error {
		_, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: name, BaseLocation: base, AllowedLocations: allowed})
		return err
	}
	require.NoError(t, create("a", "file:///wh/a/data", "file:///wh/a-extra"))
	require.NoError(t, create("below", "file:///wh/a/data/below"), "below another catalog, where no table is")
	for base, says := range map[string]string{
		warehouse:                         "a location of catalog",
		"file:///wh/a/data":               "catalog a",
		"file:///wh/a":                    "catalog",
		"file:///wh/a-extra":              "catalog a",
		"file:///wh/events":               "main.events.clicks",
		"file:///wh/events/clicks":        "main.events.clicks",
		"file:///wh/events/clicks/inside": "main.events.clicks",
	} {
		wantFault(t, create("b", base), fault.Invalid, says)
		wantFault(t, create("b", "file:///wh/free", base), fault.Invalid, says)
	}
	require.NoError(t, create("b", "file:///wh/event"), "a name that another begins with")
}

// TestOwnTablesHideNoOthers: a catalog keeps its own tables when it widens, and gets no others that lie beside them.
func TestOwnTablesHideNoOthers(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	own, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: "own", BaseLocation: "file:///wh/shared/b"})
	require.NoError(t, err)
	inOwn := models.Namespace{ID: uuid.NewString(), CatalogID: own.ID, Key: models.KeyOf([]string{"n"}), Version: 1}
	require.NoError(t, d.store.CreateNamespace(ctx, inOwn, models.AuditEvent{Type: models.AuditNamespaceCreated}))
	inMain := d.namespace("n")
	at := func(ns models.Namespace, location string) models.Table {
		row := models.Table{
			ID: uuid.NewString(), CatalogID: ns.CatalogID, NamespaceID: ns.ID, Name: "t", UUID: uuid.NewString(),
			Location: location, MetadataLocation: location + "/metadata/0.json", FormatVersion: 2,
			WritePolicy: models.GovernedOnly, Classification: models.Internal, Version: 1,
		}
		require.NoError(t, d.store.CreateTable(ctx, row, catalog.Effects{}))
		return row
	}
	at(inOwn, "file:///wh/shared/b/t")
	widen := func() error {
		_, err := d.UpdateCatalog(ctx, root, "own", management.CatalogChange{Version: 1, AllowedLocations: []string{"file:///wh/shared"}})
		return err
	}
	for _, location := range []string{"file:///wh/shared/a", "file:///wh/shared/c"} { // before and after its own
		other := at(inMain, location)
		wantFault(t, widen(), fault.Invalid, "overlaps that of main.n.t.")
		require.NoError(t, d.store.ForgetTable(ctx, d.drop(other), models.AuditEvent{Type: models.AuditTableForgotten}))
	}
	require.NoError(t, widen())
}

func TestOneOfManyGetsALocation(t *testing.T) {
	d := newDesk(t)
	processes := []*desk{d, openDesk(t, d.file)}
	root := d.root()
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := processes[i%2].CreateCatalog(t.Context(), root, management.NewCatalog{Name: fmt.Sprintf("c%d", i), BaseLocation: "file:///wh/same"})
			if err == nil {
				won.Add(1)
			} else if !fault.Is(err, fault.Invalid) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, won.Load())
}

func TestUpdateCatalog(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	d.table(d.namespace("events"), "clicks")
	d.principal("keeper", onCatalog(models.CatalogWriteProperties))
	_, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: "other", BaseLocation: "file:///wh/other/x"})
	require.NoError(t, err)
	keeper := d.as("keeper")

	_, err = d.UpdateCatalog(ctx, keeper, "main", management.CatalogChange{Version: 7, Properties: map[string]string{}})
	wantFault(t, err, fault.Conflict, "Failed to update catalog main: its version is 1, not 7: read it again")
	cat, err := d.UpdateCatalog(ctx, keeper, "main", management.CatalogChange{
		Version: 1, Properties: map[string]string{"owner": "ada", "default-base-location": "file:///wh"},
		BaseLocation: "/wh/", AllowedLocations: []string{"file:///wh"}, Storage: &models.StorageConfig{Type: models.FileStorage},
	})
	require.NoError(t, err, "what is sent back as it was is no change of the storage")
	require.Equal(t, map[string]string{"owner": "ada"}, cat.Properties.V)
	require.EqualValues(t, 2, cat.Version)
	event := d.only(models.AuditCatalogUpdated)
	require.Equal(t, map[string]any{"propertiesSet": []any{"owner"}}, event.Details.V)

	for _, change := range []management.CatalogChange{
		{BaseLocation: "file:///wh/elsewhere"}, {AllowedLocations: []string{"file:///wh/x"}},
		{Storage: &models.StorageConfig{Type: models.FileStorage, Endpoint: "http://evil"}},
	} {
		change.Version = 2
		_, err = d.UpdateCatalog(ctx, keeper, "main", change)
		wantFault(t, err, fault.Forbidden, sma)
	}
	_, err = d.UpdateCatalog(ctx, root, "main", management.CatalogChange{Version: 2})
	require.NoError(t, err)
	require.Len(t, d.events(models.AuditCatalogUpdated), 1, "a change of nothing leaves no event")

	_, err = d.UpdateCatalog(ctx, root, "other", management.CatalogChange{Version: 1, BaseLocation: "file:///wh/events"})
	wantFault(t, err, fault.Invalid, "main.events.clicks")
	_, err = d.UpdateCatalog(ctx, root, "other", management.CatalogChange{Version: 1, BaseLocation: "file:///wh"})
	wantFault(t, err, fault.Invalid, "catalog main")
	moved, err := d.UpdateCatalog(ctx, root, "other", management.CatalogChange{Version: 1, BaseLocation: "file:///wh/other", AllowedLocations: []string{"file:///wh/other/x"}})
	require.NoError(t, err, "wider than it was")
	require.Equal(t, "file:///wh/other", moved.BaseLocation)
	require.Equal(t, map[string]any{"from": "file:///wh/other/x", "to": "file:///wh/other"}, d.events(models.AuditCatalogUpdated)[0].Details.V["baseLocation"])
	require.Empty(t, moved.Properties.V)
}

func TestDeleteCatalog(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	d.namespace("events")
	wantFault(t, d.DeleteCatalog(ctx, root, "main"), fault.NotEmpty, "events")
	_, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: "other", BaseLocation: "file:///wh/other"})
	require.NoError(t, err)
	require.NoError(t, d.DeleteCatalog(ctx, root, "other"))
	require.Equal(t, "other", d.only(models.AuditCatalogDeleted).Catalog)
	wantFault(t, d.DeleteCatalog(ctx, root, "other"), fault.NotFound, "other")
	require.Len(t, d.events(models.AuditCatalogDeleted), 1)
}

func TestListCatalogs(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	d.table(d.namespace("events"), "clicks")
	for _, name := range []string{"other", "third"} {
		_, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: name, BaseLocation: "file:///wh/" + name})
		require.NoError(t, err)
	}
	d.principal("reader", onTable(models.TableReadData, "clicks", "events"))
	d.principal("stranger")
	bound := d.root()
	bound.CatalogID = d.catalog("other").ID
	for name, c := range map[string]struct {
		caller policy.Caller
		sees   []string
	}{
		"root": {d.root(), []string{"main", "other", "third"}}, "one with a table": {d.as("reader"), []string{"main"}},
		"one with nothing": {d.as("stranger"), []string{}}, "a token of a catalog": {bound, []string{"other"}},
	} {
		list, err := d.ListCatalogs(ctx, c.caller)
		require.NoError(t, err)
		require.Equal(t, c.sees, catalogNames(list), name)
	}

	// A list does not tell what getting the catalog would refuse.
	_, err := d.UpdateCatalog(ctx, root, "main", management.CatalogChange{
		Version: 1, Properties: map[string]string{"owner": "ada"}, Storage: &models.StorageConfig{Type: models.FileStorage, Name: "disk"},
	})
	require.NoError(t, err)
	_, err = d.GetCatalog(ctx, d.as("reader"), "main")
	wantFault(t, err, fault.Forbidden, "CATALOG_READ_PROPERTIES")
	list, err := d.ListCatalogs(ctx, d.as("reader"))
	require.NoError(t, err)
	require.Empty(t, list[0].Properties.V)
	require.Equal(t, models.StorageConfig{Type: models.FileStorage}, list[0].Storage.V)
	list, err = d.ListCatalogs(ctx, root)
	require.NoError(t, err)
	require.Equal(t, "ada", list[0].Properties.V["owner"])
	require.Equal(t, "disk", list[0].Storage.V.Name)
}
