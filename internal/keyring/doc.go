// Package keyring encrypts what is kept at rest: the private signing keys in the database, and what workflows are given
// and answer. A ring holds named keys of which the first encrypts and all decrypt, so that keys are rotated without a
// moment in which something cannot be read.
//
// It imports nothing of ours except internal/fault.
package keyring
