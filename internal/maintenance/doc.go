// Package maintenance deletes what tables do not need any more: here, the files of a dropped table. It plans from the
// table's own metadata and never touches a file outside the table's location. And it looks at the files that tables
// need, to see whether they are still what they were, and for files that no commit brought.
//
// It may import internal/metadata, internal/objects, internal/reconcile (which reads manifests), internal/findings (facts),
// internal/fault and models.
package maintenance
