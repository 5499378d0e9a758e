// Package governance serves Sluice's own API: engine tokens, write policies, classification, the commit ledger and the
// audit. Snapshot ids are strings in its JSON, because they exceed what JavaScript counts exactly. Errors go to the
// middleware of package api. It imports api/wire, models, internal/fault, internal/policy, and of internal/catalog and
// internal/access the request types.
package governance
