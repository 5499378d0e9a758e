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
	AuditRequestFailed            AuditType = "request.failed"
	AuditDuplicatesChanged        AuditType = "table.duplicate_commits_changed"
	AuditWriterDeclared           AuditType = "writer.declared"
	AuditWriterRetired            AuditType = "writer.retired"
	AuditWebhookCreated           AuditType = "webhook.created"
	AuditWebhookUpdated           AuditType = "webhook.updated"
	AuditWebhookDeleted           AuditType = "webhook.deleted"
	AuditWebhookReplayed          AuditType = "webhook.replayed"
	AuditRowsWritten              AuditType = "table.rows_written"
	AuditRowFiltersChanged        AuditType = "table.row_filters_changed"
	AuditDefaultLevelChanged      AuditType = "default_classification.changed"
	AuditPruned                   AuditType = "audit.pruned"
	AuditExported                 AuditType = "audit.exported"
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
		AuditStorageSecretsChanged, AuditFindingOpened, AuditFindingResolved, AuditRequestFailed, AuditDuplicatesChanged,
		AuditWriterDeclared, AuditWriterRetired, AuditWebhookCreated, AuditWebhookUpdated, AuditWebhookDeleted, AuditWebhookReplayed,
		AuditRowsWritten, AuditRowFiltersChanged, AuditDefaultLevelChanged, AuditPruned, AuditExported,
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

// SealedEvent is an audit event with its place in the chain. Seq counts from 1 without a gap; PrevHash is the hash of the event
// before. internal/audit says what is hashed.
type SealedEvent struct {
	AuditEvent `gorm:"embedded"`
	Seq        int64
	PrevHash   string // hex SHA-256; of the first event all zeros
	Hash       string // hex SHA-256
}

// AuditCheckpoint is a signed statement that the chain ended in Hash at Seq.
type AuditCheckpoint struct {
	ID        string `gorm:"primaryKey"` // a UUID that sorts by time
	Seq       int64
	Hash      string
	At        time.Time
	Pruned    bool   // events up to and with Seq were removed after it
	KeyID     string // of the AuditKey
	Signature []byte // Ed25519
}

// AuditKey signs checkpoints.
type AuditKey struct {
	ID        string `gorm:"primaryKey"`
	Public    []byte // Ed25519
	Private   []byte // sealed by internal/keyring
	CreatedAt time.Time
}

// AuditState is the one row about the chain.
type AuditState struct {
	ID          int64  `gorm:"primaryKey"` // 1
	Seq         int64  // of the last sealed event
	Hash        string // of that
	PrunedSeq   int64  // events up to and with it are removed
	ExportedSeq int64  // events up to and with it are in the exported table
}
