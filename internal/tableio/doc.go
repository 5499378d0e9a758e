// Package tableio writes rows into governed tables for Sluice itself. Arrow batches become
// data files, one set for each partition, with their statistics (FileWriter); data files,
// and the rows of others that go, become one snapshot with its manifests and delete files
// and the request that commits it (Stage). The commit goes through the catalog's own core,
// which judges and records it as any other.
//
// Rows are removed by merge-on-read: position deletes in v2, deletion vectors in v3. Data
// files are never rewritten.
//
// A data file is put together in memory before it is stored: a FileWriter holds no more
// than its options say, and closes files early rather than hold more.
//
// It uses iceberg-go for manifests, deletion vectors and Puffin, and arrow-go for Parquet,
// and not iceberg-go's table package: that costs every command at its start and writes a
// null in a required column as 0. It may import models, internal/fault, internal/metadata,
// internal/policy, internal/catalog, internal/columnar and internal/scan; neither SQL nor
// Temporal.
package tableio
