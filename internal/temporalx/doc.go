// Package temporalx is Sluice's way to Temporal: a server embedded in the
// process with its state in one SQLite file and its Web UI beside it, clients
// for that server or for a cluster by address, and the namespace they work in.
//
// It imports nothing of ours except internal/fault.
package temporalx
