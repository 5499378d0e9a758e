// Package activities is what Sluice's workflows do to the world: one activity per file, each with its input, its result
// and a sentence on how it is idempotent, because Temporal runs every activity at least once.
//
// It may import models, internal/fault, and internal/metadata and internal/reconcile for the types of the ports it
// declares. Errors leave it only as Temporal application errors: see errors.go.
package activities
