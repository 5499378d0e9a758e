// Package policy decides: which privilege implies which, which privilege each
// metadata update needs, and whether a commit is allowed under a table's write
// policy. It is pure: no I/O, no clock, no state. Facts come in as values
// (Attempt, Change), the answer goes out as one (Decision).
//
// It may import models and internal/fault, nothing else of ours.
package policy
