// Package tableio writes rows into governed tables for Sluice itself: Arrow batches
// become Parquet files with their statistics, a manifest, a manifest list and a commit
// through the catalog's own core, which judges and records it as any other.
//
// It uses iceberg-go for manifests and arrow-go for Parquet, and not iceberg-go's
// table package: that costs every command at its start and writes a null in a
// required column as 0. It may import models, internal/fault, internal/metadata,
// internal/policy and internal/catalog; neither SQL nor Temporal.
package tableio
