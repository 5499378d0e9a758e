// Package scan plans reads for engines that let the server do it: which data files of a snapshot may hold rows that
// match a filter, which delete files apply to each, and what of the filter is left to check. It reads manifests and
// never data.
//
// Our own reader takes all files of a snapshot at once (Files); engines get them in pages (Plan).
//
// Plans are not stored: a plan id and a plan task say themselves what they stand for, so that any process can serve
// them. They carry nothing that a plan request could not ask for, and whoever brings one needs the right to read the
// table all the same.
//
// It may import internal/cache, internal/fault, internal/metadata, internal/expression for filters, and iceberg-go for reading manifests.
package scan
