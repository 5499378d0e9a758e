package oidc

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// mostToken bounds the tokens that are looked into, in bytes. Header limits of servers and proxies lie below it mostly.
const mostToken = 16 << 10

// header is what a token says of its signature. Nobody vouches for it.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

// looksLikeJWT tells of text in three parts of base64url, of which the first begins a JSON object.
func looksLikeJWT(bearer string) bool {
	return strings.HasPrefix(bearer, "e") && strings.Count(bearer, ".") == 2
}

// peek reads a token's header and issuer before anything of it is verified.
func peek(bearer string) (head header, issuer string, ok bool) {
	first, rest, _ := strings.Cut(bearer, ".")
	second, _, _ := strings.Cut(rest, ".")
	var body struct {
		Issuer string `json:"iss"`
	}
	if !decodePart(first, &head) || !decodePart(second, &body) {
		return header{}, "", false
	}
	return head, body.Issuer, body.Issuer != ""
}

func decodePart(part string, to any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, to) == nil
}

// isBearer tells whether the header's type is one that bearer tokens have. Logout and event tokens of the same issuer,
// signed with the same keys, say theirs.
func (h header) isBearer() bool {
	kind := strings.TrimPrefix(strings.ToLower(h.Type), "application/")
	return kind == "" || kind == "jwt" || kind == "at+jwt"
}
