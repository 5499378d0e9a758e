package models

import "time"

// IdempotencyKey records that a principal's request under a key is settled, so that a repeat of it has no further
// effect. It is written in the transaction of the mutation, or alone when a request was refused or changed nothing.
type IdempotencyKey struct {
	PrincipalID string `gorm:"primaryKey"`
	Key         string `gorm:"primaryKey;column:idempotency_key"` // a UUID, lower case
	Route       string // method and path
	RequestHash string // hex SHA-256 of query and body
	Status      string // IdempotencyDone, or the fault code of a refusal
	Subject     string // of a refusal
	Message     string // of a refusal, as the client was told
	Result      string // JSON of what a repeat cannot derive from the current state, or ""
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// IdempotencyDone is the status of a request that succeeded.
const IdempotencyDone = "done"
