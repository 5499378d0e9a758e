package access

import (
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// maxBearer is the longest token that is looked at, in bytes.
	maxBearer = 16 << 10
	tokenType = "at+jwt"
)

// claims are what an access token says. Times are in seconds since 1970.
type claims struct {
	Issuer    string `json:"iss"`
	Subject   string `json:"sub"` // id of the principal
	Principal string `json:"principal"`
	ID        string `json:"jti"` // of the row in tokens
	ClientID  string `json:"client_id"`
	Scope     string `json:"scope"`
	IssuedAt  int64  `json:"iat"`
	NotBefore int64  `json:"nbf,omitempty"`
	ExpiresAt int64  `json:"exp"`
}

func (c claims) expiry() time.Time { return time.Unix(c.ExpiresAt, 0) }

// issuerOf gives the issuer that a JWT names, unverified: it says who is to verify it. ok is false for what is no JWT in
// the one way to write it.
func issuerOf(bearer string) (issuer string, ok bool) {
	if len(bearer) > maxBearer || strings.ContainsAny(bearer, "\r\n") { // which base64 would skip
		return "", false
	}
	header, rest, _ := strings.Cut(bearer, ".")
	body, signature, _ := strings.Cut(rest, ".")
	text, ok := decoded(body)
	if !ok {
		return "", false
	}
	if _, ok := decoded(header); !ok {
		return "", false
	}
	if _, ok := decoded(signature); !ok {
		return "", false
	}
	var named struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(text, &named) != nil {
		return "", false
	}
	return named.Issuer, true
}

func decoded(part string) ([]byte, bool) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	return text, err == nil && len(text) > 0
}

// sign gives the claims as a JWT under the key.
func sign(key *ecdsa.PrivateKey, kid string, c claims) (string, error) {
	options := (&jose.SignerOptions{}).WithType(tokenType)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, options)
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(c).Serialize()
}

// verified reads a JWT that one of the keys signed with ES256, and gives its claims and the id of the key. Whether the
// token is still good is not its question. Errors are fault.Unauthenticated.
func verified(bearer string, key func(kid string) (*ecdsa.PublicKey, error)) (claims, string, error) {
	token, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(token.Headers) != 1 {
		return claims{}, "", malformed(err)
	}
	header := token.Headers[0]
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); typ != tokenType {
		return claims{}, "", malformed(nil)
	}
	public, err := key(header.KeyID)
	if err != nil {
		return claims{}, "", err
	}
	var c claims
	if err := token.Claims(public, &c); err != nil {
		return claims{}, "", malformed(err)
	}
	if c.ID == "" || c.Subject == "" || c.ExpiresAt <= 0 {
		return claims{}, "", malformed(nil)
	}
	return c, header.KeyID, nil
}

func malformed(cause error) error {
	return fault.Wrap(cause, fault.Unauthenticated, "The token was not signed here or was changed since. Ask the token endpoint for another.")
}
