// Package rowaudit says which rows a governed write landed without keeping any of their values: an identity hash of each, its
// level and its tags, packed into blocks that are written with the commit.
//
// The hash of a row is of what its identity columns mean, not of how they are stored: the same row has the same hash in
// every batch, before and after a column is widened, and when somebody asks for it by its values. It has a key, so that
// nobody can find values by trying them.
//
// It is pure, and may import models, internal/fault, arrow-go and klauspost/compress.
package rowaudit
