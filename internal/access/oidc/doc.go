// Package oidc accepts bearer tokens of external OpenID Connect issuers: it reads which issuers there are from a YAML
// file, finds and keeps their keys, verifies tokens and maps their claims to a principal and roles. What the principal
// may do is none of its business. It imports internal/access, whose port Issuers it satisfies, internal/fault, models,
// and go-oidc with go-jose.
package oidc
