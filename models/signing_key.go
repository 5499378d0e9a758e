package models

import "time"

// SigningKey is one key that access tokens are signed with.
type SigningKey struct {
	ID          string `gorm:"primaryKey"` // the kid in a token's header
	Algorithm   string // ES256
	Public      []byte // PKIX, DER
	Private     []byte // PKCS #8, DER, sealed by internal/keyring
	CreatedAt   time.Time
	RetiresAt   time.Time // no token is signed with it from then on
	ForgottenAt time.Time // no token is accepted and the row may go from then on
}
