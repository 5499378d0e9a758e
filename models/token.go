package models

import "time"

// TokenKind says how a token came to be.
type TokenKind string

// The kinds.
const (
	EngineToken TokenKind = "engine" // minted for a job; its commits are always external
	AccessToken TokenKind = "access" // issued by the OAuth token endpoint, short-lived: a signed JWT whose jti is the ID
)

// Token is a bearer credential. Only the SHA-256 of what the client holds is stored.
type Token struct {
	ID          string `gorm:"primaryKey"`
	Kind        TokenKind
	Name        string
	Hash        string // hex SHA-256, unique; of an access token its ID, because its signature is what proves it
	Hint        string // the first characters, to recognise it by
	PrincipalID string
	CatalogID   *string        // nil: every catalog
	Roles       JSON[[]string] // ids of the principal roles it acts with, as far as its principal has them; nil: all
	CanWrite    bool
	CanGovern   bool // may change policies, classifications, protection and tokens; nothing without CanWrite
	CreatedBy   string
	CreatedAt   time.Time
	ExpiresAt   *time.Time
	LastUsedAt  *time.Time // to the minute
	RevokedAt   *time.Time
}

// Live tells whether the token is neither revoked nor expired at the time.
func (t Token) Live(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}
