// Package temporalx is Sluice's way to Temporal: a server embedded in the
// process with its state in one SQLite file and its Web UI beside it, clients
// for that server or for a cluster by address, the namespace they work in, and
// the encryption of what workflows are given and answer.
//
// It imports nothing of ours except internal/fault and internal/keyring.
package temporalx
