// Package cache keeps what was used last within a number of bytes.
//
// It imports nothing of ours.
package cache
