// Package access answers who a request comes from: engine tokens, access tokens that are signed here and those of other
// issuers, and what the principal behind them may do. It is the OAuth token endpoint behind the API too, keeps the keys
// that access tokens are signed with, and records who was refused. It imports models, internal/policy and internal/fault,
// and go-jose for the format of tokens.
package access
