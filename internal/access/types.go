package access

import (
	"time"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// MintInput asks for an engine token of a principal on a catalog.
type MintInput struct {
	Principal string
	Catalog   string   // name
	Name      string   // free text to recognise the token by
	Roles     []string // names of the only principal roles that it acts with; nil: all of the principal's
	CanWrite  bool
	CanGovern bool          // needs CanWrite
	ExpiresIn time.Duration // 0 when the client named none
}

// TokenView is a token with the names of what it is bound to.
type TokenView struct {
	models.Token
	Principal string
	Catalog   string   // "" for every catalog
	Roles     []string // names of the roles that it is narrowed to, as far as its principal has them; nil for all
}

// GrantRequest is a request of the OAuth token endpoint, as the client sent it.
type GrantRequest struct {
	GrantType        string
	ClientID         string
	ClientSecret     string
	SubjectToken     string
	SubjectTokenType string
	Scope            string
	Origin           policy.Origin // where the request came from
}

// AccessGrant is what the OAuth token endpoint answers.
type AccessGrant struct {
	AccessToken     string
	TokenType       string // bearer
	IssuedTokenType string
	Scope           string
	ExpiresIn       time.Duration // 0 for a token that does not expire
}

// OAuthError is a refusal of the OAuth token endpoint in the words of RFC 6749. Description is public.
type OAuthError struct {
	Code        string // such as invalid_client
	Description string
	Status      int // HTTP
}

// Error gives code and description.
func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

// KeyView is a signing key without its secret part.
type KeyView struct {
	ID          string // the kid of the tokens that it signed
	Algorithm   string
	CreatedAt   time.Time
	RetiresAt   time.Time // it signs no token from then on
	ForgottenAt time.Time // no token that it signed is accepted from then on
	Signs       bool      // it is the one that signs now
	Sealed      bool      // it cannot be opened with the encryption keys of this process
}
