package models

import "time"

// AuditType names an event: noun.verb_past.
type AuditType string

// The events of the catalog and of governance.
const (
	AuditCatalogCreated           AuditType = "catalog.created"
	AuditNamespaceCreated         AuditType = "namespace.created"
	AuditNamespaceUpdated         AuditType = "namespace.updated"
	AuditNamespaceDropped         AuditType = "namespace.dropped"
	AuditTableCreated             AuditType = "table.created"
	AuditTableRegistered          AuditType = "table.registered"
	AuditTableCommitted           AuditType = "table.committed"
	AuditTableDropped             AuditType = "table.dropped"
	AuditTableUndropped           AuditType = "table.undropped"
	AuditTablePurged              AuditType = "table.purged"
	AuditTableForgotten           AuditType = "table.forgotten"
	AuditTableUnregistered        AuditType = "table.unregistered"
	AuditProtectionChanged        AuditType = "table.protection_changed"
	AuditTableRenamed             AuditType = "table.renamed"
	AuditViewCreated              AuditType = "view.created"
	AuditViewRegistered           AuditType = "view.registered"
	AuditViewReplaced             AuditType = "view.replaced"
	AuditViewDropped              AuditType = "view.dropped"
	AuditViewRenamed              AuditType = "view.renamed"
	AuditCommitDenied             AuditType = "table.commit_denied"
	AuditRequestDenied            AuditType = "request.denied"
	AuditCommitReconciled         AuditType = "table.external_commit_reconciled"
	AuditPlatformCommitReconciled AuditType = "table.platform_commit_reconciled"
	AuditCommitAbandoned          AuditType = "table.commit_abandoned"
	AuditWritePolicyChanged       AuditType = "table.write_policy_changed"
	AuditDefaultPolicyChanged     AuditType = "default_write_policy.changed"
	AuditClassificationChanged    AuditType = "table.classification_changed"
	AuditPropertiesRestamped      AuditType = "table.properties_restamped"
	AuditTokenMinted              AuditType = "token.minted"
	AuditTokenRevoked             AuditType = "token.revoked"
	AuditPrincipalCreated         AuditType = "principal.created"
	AuditPrincipalSecretReset     AuditType = "principal.secret_reset"
	AuditCatalogUpdated           AuditType = "catalog.updated"
	AuditCatalogDeleted           AuditType = "catalog.deleted"
	AuditPrincipalUpdated         AuditType = "principal.updated"
	AuditPrincipalDeleted         AuditType = "principal.deleted"
	AuditPrincipalSecretRotated   AuditType = "principal.secret_rotated"
	AuditPrincipalRoleCreated     AuditType = "principal_role.created"
	AuditPrincipalRoleUpdated     AuditType = "principal_role.updated"
	AuditPrincipalRoleDeleted     AuditType = "principal_role.deleted"
	AuditPrincipalRoleAssigned    AuditType = "principal_role.assigned"
	AuditPrincipalRoleRevoked     AuditType = "principal_role.revoked"
	AuditCatalogRoleCreated       AuditType = "catalog_role.created"
	AuditCatalogRoleUpdated       AuditType = "catalog_role.updated"
	AuditCatalogRoleDeleted       AuditType = "catalog_role.deleted"
	AuditCatalogRoleAssigned      AuditType = "catalog_role.assigned"
	AuditCatalogRoleRevoked       AuditType = "catalog_role.revoked"
	AuditGrantAdded               AuditType = "grant.added"
	AuditGrantRevoked             AuditType = "grant.revoked"
	AuditSigningKeyCreated        AuditType = "signing_key.created"
	AuditSigningKeysRevoked       AuditType = "signing_key.revoked"
	AuditStorageSecretsChanged    AuditType = "catalog.storage_secrets_changed"
	AuditFindingOpened            AuditType = "finding.opened"
	AuditFindingResolved          AuditType = "finding.resolved"
)

// AuditTypes gives every type there is.
func AuditTypes() []AuditType {
	return []AuditType{
		AuditCatalogCreated, AuditNamespaceCreated, AuditNamespaceUpdated, AuditNamespaceDropped, AuditTableCreated,
		AuditTableRegistered, AuditTableCommitted, AuditTableDropped, AuditTableUndropped, AuditTablePurged,
		AuditTableForgotten, AuditTableUnregistered, AuditProtectionChanged, AuditTableRenamed, AuditViewCreated,
		AuditViewRegistered, AuditViewReplaced, AuditViewDropped, AuditViewRenamed, AuditCommitDenied, AuditRequestDenied,
		AuditCommitReconciled, AuditPlatformCommitReconciled, AuditCommitAbandoned, AuditWritePolicyChanged,
		AuditDefaultPolicyChanged, AuditClassificationChanged, AuditPropertiesRestamped, AuditTokenMinted,
		AuditTokenRevoked, AuditPrincipalCreated, AuditPrincipalSecretReset,
		AuditCatalogUpdated, AuditCatalogDeleted, AuditPrincipalUpdated, AuditPrincipalDeleted, AuditPrincipalSecretRotated, AuditPrincipalRoleCreated, AuditPrincipalRoleUpdated, AuditPrincipalRoleDeleted, AuditPrincipalRoleAssigned, AuditPrincipalRoleRevoked, AuditCatalogRoleCreated, AuditCatalogRoleUpdated, AuditCatalogRoleDeleted, AuditCatalogRoleAssigned, AuditCatalogRoleRevoked, AuditGrantAdded, AuditGrantRevoked, AuditSigningKeyCreated, AuditSigningKeysRevoked,
		AuditStorageSecretsChanged, AuditFindingOpened, AuditFindingResolved,
	}
}

// AuditEvent is one effect or refusal. Rows are only ever added; Seq, PrevHash and Hash are filled once by the sealer.
type AuditEvent struct {
	ID         int64  `gorm:"primaryKey"`
	EventID    string // UUID, unique
	Type       AuditType
	At         time.Time
	Principal  string
	TokenID    string
	Catalog    string // name
	Namespace  string // dotted
	Table      string `gorm:"column:table_name"` // dotted, with the namespace; of a view in its events
	TableUUID  string `gorm:"column:table_uuid"` // of a view in its events
	SnapshotID *int64
	Allowed    bool
	Reason     string // of a refusal, as the client was told
	RequestID  string
	Address    string
	Details    JSON[map[string]any]
	DedupeKey  *string // unique where given: makes a retried effect's event exactly one
}
