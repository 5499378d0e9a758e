package catalog

import (
	"context"
	"log/slog"
	"testing"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

const atStore = "s3://lake/main/db/t"

// filesOf gives a service and a table, in a catalog that has the base.
func filesOf(base, location string, p models.WritePolicy) (*Service, tablePlace, models.Table) {
	s := &Service{locations: objects.Rules{}, log: slog.New(slog.DiscardHandler)}
	at := tablePlace{
		cat: models.Catalog{ID: "c", Name: "main", BaseLocation: base}, ns: models.Namespace{ID: "n", Key: models.KeyOf([]string{"db"})},
		path: policy.Path{CatalogID: "c", NamespaceIDs: []string{"n"}},
	}
	return s, at, models.Table{ID: "t", Name: "t", Location: location, WritePolicy: p, Classification: models.Internal}
}

func whoHolds(clearance models.Classification, privileges ...models.Privilege) policy.Caller {
	var grants []policy.Grant
	for _, p := range privileges {
		grants = append(grants, policy.Grant{ObjectID: "c", Privilege: p})
	}
	return policy.Caller{Principal: "job", Clearance: clearance, Held: policy.NewHeld(nil, grants)}
}

// TestFilesByRight is what somebody is let at: the areas, of which only who writes without reading needs two.
func TestFilesByRight(t *testing.T) {
	const write, read, govern = models.TableWriteData, models.TableReadData, models.TableGovern
	reads := models.StorageRights{ReadData: true, ReadMetadata: true}
	all := models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: true, Delete: true}
	writeOnly := models.StorageRights{ReadMetadata: true, Write: true}
	engine := whoHolds(models.Internal, write, govern)
	engine.EngineToken = true
	readOnly := whoHolds(models.Internal, write)
	readOnly.ReadOnly = true
	for name, c := range map[string]struct {
		who    policy.Caller
		policy models.WritePolicy
		column models.Classification
		want   models.StorageRights
		areas  int
	}{
		"a reader":                          {whoHolds(models.Internal, read), models.OpenFull, "", reads, 1},
		"a writer":                          {whoHolds(models.Internal, write), models.OpenFull, "", all, 1},
		"a writer where engines may not":    {whoHolds(models.Internal, write), models.GovernedOnly, "", reads, 1},
		"a steward there":                   {whoHolds(models.Internal, write, govern), models.GovernedOnly, "", all, 1},
		"a steward's engine":                {engine, models.GovernedOnly, "", reads, 1},
		"a token that reads":                {readOnly, models.OpenFull, "", reads, 1},
		"a reader below the level":          {whoHolds(models.Internal, read), models.OpenFull, models.Confidential, models.StorageRights{}, 0},
		"a writer below the level":          {whoHolds(models.Internal, write), models.OpenAppend, models.Confidential, writeOnly, 2},
		"a writer below, who may not":       {whoHolds(models.Internal, write), models.GovernedOnly, models.Confidential, models.StorageRights{}, 0},
		"an unknown level is the highest":   {whoHolds(models.Confidential, read), models.OpenFull, "secret", models.StorageRights{}, 0},
		"an unknown clearance is the least": {whoHolds("secret", read), models.OpenFull, "", models.StorageRights{}, 0},
		"a reader of metadata":              {whoHolds(models.Restricted, models.TableReadProperties), models.OpenFull, "", models.StorageRights{}, 0},
	} {
		s, at, row := filesOf("s3://lake/main", atStore, c.policy)
		if c.column != "" {
			row.Columns.V = map[string]models.ColumnGovernance{"email": {Sensitivity: c.column}, "name": {Tag: "name"}}
		}
		got, err := s.access(context.Background(), c.who, at, row, func() (map[string]string, error) { return nil, nil })
		if err != nil || got.Rights != c.want || len(got.Areas) != c.areas {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestWhatIsMetadata: the folder that is always the metadata's, unless data is put there; no other, whatever properties say.
func TestWhatIsMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		properties map[string]string
		known      bool
	}{
		"plain":                      {nil, true},
		"moved":                      {map[string]string{"write.metadata.path": atStore + "/data"}, true},
		"data elsewhere":             {map[string]string{"write.data.path": atStore + "/d", "write.object-storage.path": atStore}, true},
		"data in it":                 {map[string]string{"write.data.path": atStore + "/metadata"}, false},
		"data below it":              {map[string]string{"write.folder-storage.path": "s3a://lake/main/db/t/metadata/x/"}, false},
		"data where nobody can tell": {map[string]string{"write.object-storage.path": "%%"}, false},
	} {
		s, at, row := filesOf("s3://lake/main", atStore+"/", models.OpenAppend)
		row.Classification = models.Restricted
		got, err := s.access(context.Background(), whoHolds(models.Internal, models.TableWriteData), at, row, func() (map[string]string, error) { return c.properties, nil })
		if err != nil {
			t.Fatal(err)
		}
		want := []models.StorageArea{{Prefix: atStore}}
		if c.known {
			want = append(want, models.StorageArea{Prefix: atStore + "/metadata", Metadata: true})
		}
		if len(got.Areas) != len(want) || got.Areas[0] != want[0] || got.Areas[len(want)-1] != want[len(want)-1] {
			t.Errorf("%s: %+v", name, got.Areas)
		}
	}
}

// TestFilesOutsideTheCatalog are nobody's to be let at: the catalog's keys are not for them.
func TestFilesOutsideTheCatalog(t *testing.T) {
	for _, location := range []string{"s3://lake/main2/db/t", "s3://other/main/db/t", "s3://lake/main/../t", "file:///main/db/t", ""} {
		s, at, row := filesOf("s3://lake/main", location, models.OpenFull)
		got, err := s.access(context.Background(), whoHolds(models.Restricted, models.TableWriteData), at, row, nil)
		if err != nil || got.Rights.Any() || len(got.Areas) > 0 {
			t.Errorf("%s: %+v, %v", location, got, err)
		}
	}
}

// TestWhyThereAreNoFiles: each refusal says what is missing.
func TestWhyThereAreNoFiles(t *testing.T) {
	readOnly := whoHolds(models.Internal, models.TableWriteData)
	readOnly.ReadOnly = true
	for want, c := range map[string]struct {
		who   policy.Caller
		level models.Classification
	}{
		"Principal job lacks the privilege TABLE_READ_DATA or TABLE_WRITE_DATA on table db.t.":                                                                                                                     {whoHolds(models.Internal), models.Internal},
		"The files of table main.db.t are restricted, and the clearance of principal job is internal. Read it through the governed query, which masks what you may not see: POST /data/v1/tables/main.db.t/query.": {readOnly, models.Restricted},
		"The files of table main.db.t are internal, and the clearance of principal job is none. Read it through the governed query, which masks what you may not see: POST /data/v1/tables/main.db.t/query.":       {whoHolds("", models.TableReadData), models.Internal},
	} {
		_, at, row := filesOf("s3://lake/main", atStore, models.OpenFull)
		row.Classification = c.level
		if err := lacksFiles(c.who, at, row); !fault.Is(err, fault.Forbidden) || fault.PublicMessage(err) != want {
			t.Errorf("%v", err)
		}
	}
}
