// Package icebergtest commits the way an engine does: real Avro manifests and manifest lists, written by iceberg-go, and
// the REST commit that adds them. Tests, benchmarks and the chaos checker share it. The data files it names hold nothing:
// it is for what reads metadata only. It imports iceberg-go and the standard library.
package icebergtest
