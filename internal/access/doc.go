// Package access answers who a request comes from: engine tokens, OAuth client credentials and access tokens, and
// the grants of the principal behind them. It imports models, internal/policy and internal/fault.
package access
