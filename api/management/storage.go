package management

import (
	"slices"
	"strings"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/models"
)

// storageAnswer is a catalog's storage; its members here come before those of the configuration.
type storageAnswer struct {
	models.StorageConfig
	Type             models.StorageType `json:"storageType"`
	AllowedLocations []string           `json:"allowedLocations"`   // the base location and those besides
	TenantID         *string            `json:"tenantId,omitempty"` // clients require it of AZURE
}

func storageOf(c models.Catalog) storageAnswer {
	out := storageAnswer{StorageConfig: c.Storage.V, Type: c.Storage.V.Type}
	if out.Type == "" {
		out.Type = storageTypeOf(c.BaseLocation)
	}
	if out.Type == models.AzureStorage {
		out.TenantID = &out.StorageConfig.TenantID
	}
	out.AllowedLocations = append([]string{c.BaseLocation}, c.AllowedLocations.V...)
	return out
}

// storageTypeOf tells the kind of store from a location: the catalog of a fresh installation names none.
func storageTypeOf(location string) models.StorageType {
	scheme, _, _ := strings.Cut(location, ":")
	switch scheme {
	case "s3", "s3a", "s3n":
		return models.S3Storage
	case "gs":
		return models.GCSStorage
	case "abfs", "abfss", "wasb", "wasbs":
		return models.AzureStorage
	}
	return models.FileStorage
}

// readStorage reads how a store is reached, and where tables may lie besides base: nil for nothing said. Members of other
// kinds of stores, and those that it does not know, are left out.
func readStorage(f *wire.Fields, base string) (s models.StorageConfig, allowed []string) {
	s = models.StorageConfig{Type: models.StorageType(strings.ToUpper(f.String("storageType"))), Name: f.OptionalString("storageName")}
	switch s.Type {
	case models.S3Storage:
		readS3(f, &s)
	case models.AzureStorage:
		s.TenantID, s.MultiTenantAppName = f.String("tenantId"), f.OptionalString("multiTenantAppName")
		s.ConsentURL, s.Hierarchical = f.OptionalString("consentUrl"), f.Bool("hierarchical")
	case models.GCSStorage:
		s.GCSServiceAccount = f.OptionalString("gcsServiceAccount")
	case models.FileStorage:
	default:
		f.Fail("storageType", "must be S3, GCS, AZURE or FILE, not %q", s.Type)
	}
	allowed = f.OptionalStrings("allowedLocations")
	if base != "" {
		allowed = slices.DeleteFunc(allowed, func(l string) bool { return strings.TrimRight(l, "/") == strings.TrimRight(base, "/") })
	}
	return s, allowed
}

func readS3(f *wire.Fields, s *models.StorageConfig) {
	s.RoleARN, s.ExternalID, s.UserARN = f.OptionalString("roleArn"), f.OptionalString("externalId"), f.OptionalString("userArn")
	s.Region = f.OptionalString("region")
	s.Endpoint, s.EndpointInternal = f.OptionalString("endpoint"), f.OptionalString("endpointInternal")
	s.STSEndpoint, s.STSUnavailable = f.OptionalString("stsEndpoint"), f.Bool("stsUnavailable")
	s.KMSUnavailable, s.PathStyleAccess = f.Bool("kmsUnavailable"), f.Bool("pathStyleAccess")
	s.CurrentKMSKey, s.AllowedKMSKeys = f.OptionalString("currentKmsKey"), f.OptionalStrings("allowedKmsKeys")
}
