// Package policy decides: which privilege implies which and which can be
// granted on what, which privileges each operation of the product needs and on
// which object, whether a commit is allowed under a table's write policy, and which
// columns a caller sees masked and which rows at all. It is pure: no I/O, no clock, no state. Facts come in as values (Attempt, Change,
// Grant), the answer goes out as one (Decision, or a refusal).
//
// It may import models, internal/fault and, for the schemas of tables, internal/metadata,
// nothing else of ours.
package policy
