package models

import "time"

// Names that Sluice makes itself.
const (
	RootPrincipal    = "root"
	ServiceAdminRole = "service_admin" // principal role with every service privilege
	CatalogAdminRole = "catalog_admin" // catalog role made with each catalog
)

// Principal is one identity: a person, a job or a service.
type Principal struct {
	ID         string `gorm:"primaryKey"`
	Name       string
	ClientID   string
	SecretHash string // hex SHA-256 of the client secret, which has 256 bits of its own entropy
	// PreviousSecretHash is that of the secret before the last rotation; it is good until PreviousSecretUntil.
	PreviousSecretHash  string
	PreviousSecretUntil *time.Time
	RotationRequired    bool           // its first credentials are good for nothing but their rotation
	Clearance           Classification // the most sensitive data it may see
	Disabled            bool
	Properties          JSON[map[string]string]
	Version             int64
	CreatedAt           time.Time
	UpdatedAt           time.Time
}

// PrincipalRole groups principals. Of a federated one the identity provider says who has it, token by token.
type PrincipalRole struct {
	ID         string `gorm:"primaryKey"`
	Name       string
	Federated  bool
	Properties JSON[map[string]string]
	Version    int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// CatalogRole groups grants within a catalog.
type CatalogRole struct {
	ID         string `gorm:"primaryKey"`
	CatalogID  string
	Name       string
	Properties JSON[map[string]string]
	Version    int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// PrincipalRoleMember gives a principal a principal role.
type PrincipalRoleMember struct {
	PrincipalID     string `gorm:"primaryKey"`
	PrincipalRoleID string `gorm:"primaryKey"`
}

// CatalogRoleMember gives a principal role a catalog role.
type CatalogRoleMember struct {
	PrincipalRoleID string `gorm:"primaryKey"`
	CatalogRoleID   string `gorm:"primaryKey"`
}

// GrantScope is the kind of object that a grant is on.
type GrantScope string

// The scopes.
const (
	OnCatalog   GrantScope = "catalog"
	OnNamespace GrantScope = "namespace"
	OnTable     GrantScope = "table"
	OnView      GrantScope = "view"
)

// Grant gives a catalog role one privilege on one object and everything below it.
type Grant struct {
	ID            string `gorm:"primaryKey"`
	CatalogRoleID string
	CatalogID     string
	Scope         GrantScope
	ObjectID      string // id of the catalog, namespace or table row
	Privilege     Privilege
	CreatedAt     time.Time
}

// AccessState counts the changes of principals, roles and grants in its one row; the database counts by triggers.
type AccessState struct {
	ID      int `gorm:"primaryKey"`
	Version int64
}
