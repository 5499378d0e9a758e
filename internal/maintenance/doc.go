// Package maintenance deletes what tables do not need any more: here, the files of a dropped table. It plans from the
// table's own metadata and never touches a file outside the table's location. And it looks at the files that tables
// need, to see whether they are still what they were, and for files that no commit brought; and at a few of their rows, for what
// looks like personal data.
//
// It may import internal/metadata, internal/objects, internal/reconcile (which reads manifests), internal/scan, internal/tableread
// and internal/expression (which read rows), internal/classify, internal/findings (facts), internal/fault, models and
// arrow-go.
package maintenance
