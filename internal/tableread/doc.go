// Package tableread reads the rows of governed tables: a projection and a filter over a
// snapshot, whole (Scan), page by page in the order of some columns (Page), or the places
// of rows by their keys (Locate). All kinds of deletes are applied.
//
// Columns are found in data files by their field ids, or by the table's name mapping
// where a file has none; never by position. What an older schema wrote is given in the
// types of the schema that is asked for.
//
// Data files are written by whoever may commit, so that none may cost more than its size
// warrants: footers and pages are bounded, and what all reads of a Reader hold together
// is bounded by its options. A file that makes no sense is an error that names it, never
// a guess and never a panic.
//
// It may import internal/cache, internal/fault, internal/metadata, internal/objects, internal/columnar,
// internal/expression and internal/scan, arrow-go for reading Parquet and iceberg-go for
// deletion vectors.
package tableread
