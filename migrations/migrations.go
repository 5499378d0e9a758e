// Package migrations holds the database schema as versioned SQL, one folder per
// dialect, in goose's format. A version that was released is never edited: the
// next change is the next number, in both folders. It imports nothing of ours.
package migrations

import "embed"

// Files has the folders sqlite and postgres.
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
