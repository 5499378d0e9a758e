package access

import (
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Credentials are a principal's client id and secret, as shown once.
type Credentials struct{ ClientID, ClientSecret string }

// NewBootstrap prepares a fresh installation: root, its credentials and the first catalog. Root governs everything but
// does not hold TABLE_GOVERN: a steward is named, never implied. The catalog lies in the first of the warehouses, and its
// tables may lie in any.
func NewBootstrap(catalogName string, warehouses []string, defaultPolicy models.WritePolicy, now time.Time) (Bootstrap, Credentials) {
	creds := Credentials{ClientID: NewClientID(), ClientSecret: NewClientSecret()}
	root := models.Principal{
		ID: uuid.NewString(), Name: models.RootPrincipal, ClientID: creds.ClientID, SecretHash: HashSecret(creds.ClientSecret),
		Clearance: models.Restricted, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	cat := models.Catalog{
		ID: uuid.NewString(), Name: catalogName, BaseLocation: warehouses[0], DefaultWritePolicy: defaultPolicy,
		AllowedLocations: models.JSON[[]string]{V: warehouses[1:]}, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	event := func(t models.AuditType, catalog string, details map[string]any) models.AuditEvent {
		return models.AuditEvent{
			EventID: uuid.NewString(), Type: t, At: now, Principal: models.RootPrincipal, Catalog: catalog, Allowed: true,
			Details: models.JSON[map[string]any]{V: details},
		}
	}
	return Bootstrap{
		Root: root, Catalog: cat, AdminPrivileges: policy.AdminPrivileges(),
		Events: []models.AuditEvent{
			event(models.AuditPrincipalCreated, "", map[string]any{"principal": root.Name}),
			event(models.AuditCatalogCreated, cat.Name, map[string]any{"baseLocation": cat.BaseLocation, "defaultWritePolicy": defaultPolicy}),
		},
	}, creds
}
