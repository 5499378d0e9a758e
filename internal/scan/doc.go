// Package scan plans reads for engines that let the server do it: which data files of a snapshot may hold rows that
// match a filter, which delete files apply to each, and what of the filter is left to check. It reads manifests and
// never data.
//
// A file is left out only when no row of it can match, whichever of the two common logics the engine follows: SQL's,
// where a comparison with NULL is unknown, or Iceberg's, where it is false and its negation true. Where both do not
// agree, or a statistic is missing or odd, the file stays in.
//
// Plans are not stored: a plan id and a plan task say themselves what they stand for, so that any process can serve
// them. They carry nothing that a plan request could not ask for, and whoever brings one needs the right to read the
// table all the same.
//
// It may import models, internal/fault, internal/metadata, and iceberg-go for manifests and transforms. Filters are
// parsed, bound and evaluated here: iceberg-go's row predicates lose rows with NULL.
package scan
