package delegation

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// mostVendors bounds how many vendors are kept; opening one again costs a request or two.
const mostVendors = 256

// vendors keeps the vendors of stores that are not S3's: they hold what they make keys with. One whose profile has changed
// is not found again.
type vendors struct {
	open map[models.StorageType]OpenVendor

	mu   sync.Mutex
	kept map[[sha256.Size]byte]Vendor
}

func newVendors(open map[models.StorageType]OpenVendor) *vendors {
	return &vendors{open: open, kept: map[[sha256.Size]byte]Vendor{}}
}

func (v *vendors) know(t models.StorageType) bool { return v.open[t] != nil }

// vend gives the keys of a table.
func (v *vendors) vend(ctx context.Context, p objects.Profile, access models.StorageAccess, o objects.VendOptions) ([]catalog.StorageCredential, error) {
	if len(access.Areas) == 0 || !v.know(p.Config.Type) {
		return nil, objects.ErrNoScopedKeys
	}
	root, err := objects.Parse(access.Areas[0].Prefix)
	if err != nil {
		return nil, err
	}
	vendor, err := v.of(p, root)
	if err != nil {
		return nil, err
	}
	list, err := vendor.Vend(ctx, access, o)
	out := make([]catalog.StorageCredential, len(list))
	for i, c := range list {
		out[i] = catalog.StorageCredential{Prefix: c.Prefix, Config: c.Config}
	}
	return out, err
}

func (v *vendors) of(p objects.Profile, root objects.Location) (Vendor, error) {
	raw, err := json.Marshal([]any{p.Config, p.Secrets, root.Scheme(), root.Bucket()})
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(raw)
	v.mu.Lock()
	defer v.mu.Unlock()
	if vendor, ok := v.kept[key]; ok {
		return vendor, nil
	}
	vendor, err := v.open[p.Config.Type](p.Config, p.Secrets, root)
	if err != nil {
		return nil, err
	}
	if len(v.kept) >= mostVendors {
		clear(v.kept)
	}
	v.kept[key] = vendor
	return vendor, nil
}
