// Package objectstest tests that a store of objects keeps its contract, whatever it lies in. Tests of stores run it
// against the real thing: a folder, an S3-compatible server, Azurite, a Google Cloud Storage server.
//
// It is imported by tests alone. Of ours it may import internal/objects and internal/fault.
package objectstest
