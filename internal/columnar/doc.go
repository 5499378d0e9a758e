// Package columnar says how rows of an Iceberg table are held in memory: which Arrow
// type stands for which Iceberg type, and where the ids of fields are kept. Whatever
// reads, writes, filters or masks rows here holds them as this package says.
//
// An Iceberg column that is not required is nullable. Every field has its id in its
// metadata, nested ones too, so that Parquet files get them.
//
// It may import internal/fault, internal/metadata and arrow-go.
package columnar
