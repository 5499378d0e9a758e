package delegation

import (
	"context"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// Profiles says how the stores of catalogs are reached; objects.Profiles does. The type of a local folder is
// models.FileStorage.
type Profiles interface {
	// Vending gives what temporary keys of the catalog's store are had with.
	Vending(ctx context.Context, cat models.Catalog) (objects.Profile, error)
	// Signing gives what requests to it are signed with.
	Signing(ctx context.Context, cat models.Catalog) (objects.Profile, error)
}

// Vendor gives keys for folders of one account, bucket or container that is not S3's. The error is objects.ErrNoScopedKeys
// where it has none for one table alone.
type Vendor interface {
	Vend(ctx context.Context, access models.StorageAccess, o objects.VendOptions) ([]objects.Credential, error)
}

// OpenVendor makes the vendor of a store for the account, bucket or container of root.
type OpenVendor func(c models.StorageConfig, secrets models.StorageSecrets, root objects.Location) (Vendor, error)
