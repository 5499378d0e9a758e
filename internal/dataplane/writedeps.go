package dataplane

import (
	"context"

	"github.com/sluice-data/sluice/internal/classify"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// WriteDeps is what writes need besides.
type WriteDeps struct {
	IO    *tableio.IO
	Files tableio.Files       // of chunks of split writes
	Keys  *idempotency.Keeper // nil: an Idempotency-Key is refused
	// Split shares large appends among workers; nil: they are landed here.
	Split Splitter
	// NoteSuggestions is told what the content of columns looks like that nobody classified; nil: nobody wants to know.
	NoteSuggestions func(ctx context.Context, tableID string, s []classify.Suggestion)
}

// Splitter has workers land a write by the steps WriteChunk, CommitChunks and CleanChunks.
type Splitter interface {
	// StartWrite begins it; when that fails it may have begun all the same.
	StartWrite(ctx context.Context, w models.SplitWrite) error
	// AwaitWrite waits until it is over and gives what it failed with; fault.UnknownState when that cannot be learned.
	AwaitWrite(ctx context.Context, writeID string) error
}
