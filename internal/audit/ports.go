package audit

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Ledger keeps the chain. One row is its state: who changes it holds the chain, so that of many processes one seals.
type Ledger interface {
	Chain
	// SealAudit takes the chain and gives up to limit events that have no place yet, in order of id, to seal, which answers the
	// hash of each. They get the next places and these hashes, and the state moves, in one transaction. seal may be called
	// more than once.
	SealAudit(ctx context.Context, limit int, seal func(models.AuditState, []Record) []string) (Sealing, error)
	// AddCheckpoint writes a checkpoint, unless there is one of its place or a later one, or one that is not older than since;
	// one that is as far in the future does not count. It tells whether it did.
	AddCheckpoint(ctx context.Context, c models.AuditCheckpoint, since time.Time) (bool, error)
	// LastCheckpoint gives the newest checkpoint, zero for none.
	LastCheckpoint(ctx context.Context) (models.AuditCheckpoint, error)
	KeyStore
	PruneLedger
}

// Sealing is what SealAudit came to.
type Sealing struct {
	State  models.AuditState // after it
	Events int               // that were sealed
	Held   bool              // another process holds the chain
}

// KeyStore keeps the keys that checkpoints are signed with.
type KeyStore interface {
	// AuditKeys gives the keys, newest first.
	AuditKeys(ctx context.Context) ([]models.AuditKey, error)
	// AddAuditKey adds a key if the newest one is still that of the id, "" for none, and gives the newest.
	AddAuditKey(ctx context.Context, key models.AuditKey, newest string) (models.AuditKey, error)
	// ResealAuditKey stores the private half of a key as it is encrypted now.
	ResealAuditKey(ctx context.Context, id string, private []byte) error
}

// PruneLedger removes old events.
type PruneLedger interface {
	// PrunableAudit gives the last place up to which every event is older than before and, with exported, in the exported
	// table, and the hash there; 0 when there is none that is not pruned.
	PrunableAudit(ctx context.Context, before time.Time, exported bool) (seq int64, hash string, err error)
	// PruneAudit writes the checkpoint and the event and moves the state, in one transaction; false when another process
	// pruned as far. It adds to the event how many events there are to remove. They are still there: RemovePruned removes them.
	PruneAudit(ctx context.Context, c models.AuditCheckpoint, event models.AuditEvent) (bool, error)
	// RemovePruned removes up to limit events that the state calls pruned and tells how many.
	RemovePruned(ctx context.Context, limit int) (int, error)
}

// Chain is the audit to read.
type Chain interface {
	AuditState(ctx context.Context) (models.AuditState, error)
	// AuditRecords gives the sealed events with places above after up to through, in order of place and id. The record is
	// only good until each returns.
	AuditRecords(ctx context.Context, after, through int64, each func(*Record) error) error
	// AuditCheckpoints gives every checkpoint, in order of place and id.
	AuditCheckpoints(ctx context.Context) ([]models.AuditCheckpoint, error)
	AuditKeys(ctx context.Context) ([]models.AuditKey, error)
	// AuditEnds looks at what is not between the pruned and the last place, as of one moment.
	AuditEnds(ctx context.Context) (Ends, error)
}

// Ends is what lies outside the chain.
type Ends struct {
	Unsealed int64     // events without a place
	Oldest   time.Time // of those, zero for none
	OldestID int64
	Beyond   *Place // the first event after the last place of the state, nil for none
	Below    *Place // the first event that the state calls pruned and that is there, or that is at no place of a chain: below 1
}

// Place is where an event is.
type Place struct {
	Seq     int64
	ID      int64
	EventID string
}

// Vault encrypts the private keys; see internal/keyring.
type Vault interface {
	Seal(plain, associated []byte) ([]byte, error)
	Open(sealed, associated []byte) ([]byte, error)
}
