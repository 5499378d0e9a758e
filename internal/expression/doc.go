// Package expression is the filters of reads: the expressions of Iceberg's REST protocol, and a text form like SQL's
// WHERE. It parses them, binds them to a schema, tells which files and parts of files may hold rows that match, what of a
// filter is left to check within a partition, and which rows of Arrow columns match.
//
// What may match errs on the side of yes, for engines of either logic: SQL's, where a comparison with NULL is unknown,
// or Iceberg's, where it is false and its negation true. Which rows match is decided by SQL's alone: a row is in when
// the filter is TRUE. NaN equals itself and is greater than every number, -0.0 equals 0.0, text goes by its UTF-8 bytes.
//
// It may import internal/fault, internal/metadata, arrow-go for columns, and iceberg-go for transforms. Filters are not
// evaluated by iceberg-go: its row predicates lose rows with NULL.
package expression
