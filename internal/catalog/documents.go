package catalog

import (
	"context"

	"golang.org/x/sync/singleflight"

	"github.com/sluice-data/sluice/internal/cache"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// documents caches parsed metadata by its file within a budget of bytes. Metadata files never change, so an entry is
// right for as long as it is kept; which location is current is always read from the store.
type documents struct {
	files  Files
	budget int64
	loads  singleflight.Group
	parsed *cache.Cache[string, document]
}

// document is what the cache holds: table and view metadata, under one budget.
type document interface{ Size() int }

// viewKey keeps the views' documents apart from the tables': a file is read as what the asker says it is.
func viewKey(location string) string { return "view\x00" + location }

func newDocuments(files Files, budget int64) *documents {
	return &documents{files: files, budget: budget, parsed: cache.New[string, document](budget)}
}

// get gives the document of a table's metadata file.
func (d *documents) get(ctx context.Context, location string) (*metadata.Document, error) {
	return load(ctx, d, location, location, metadata.Parse)
}

// getView gives the document of a view's metadata file.
func (d *documents) getView(ctx context.Context, location string) (*metadata.ViewDocument, error) {
	return load(ctx, d, viewKey(location), location, metadata.ParseView)
}

// load gives the document under a key, reading it from location if need be; concurrent readers share one read.
func load[D document](ctx context.Context, d *documents, key, location string, parse func([]byte) (D, error)) (D, error) {
	var none D
	if doc, ok := d.parsed.Get(key); ok {
		return doc.(D), nil
	}
	// The read outlives the first asker's context, or one impatient client would fail all who wait with it.
	ch := d.loads.DoChan(key, func() (any, error) {
		raw, err := d.read(context.WithoutCancel(ctx), location)
		if err != nil {
			return none, err
		}
		doc, err := parse(raw)
		if err != nil {
			return none, damaged(err, location)
		}
		d.put(key, doc)
		return doc, nil
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-ch:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(D), nil
	}
}

func (d *documents) read(ctx context.Context, location string) ([]byte, error) {
	raw, err := d.files.ReadFile(ctx, location)
	if err != nil {
		return nil, err
	}
	if raw, err = metadata.Decompress(location, raw); err != nil {
		return nil, damaged(err, location)
	}
	return raw, nil
}

// damaged: a stored file that cannot be read is the server's trouble, not a bad request of whoever asks for it.
func damaged(err error, location string) error {
	return fault.Wrap(err, fault.Internal, "The metadata file %s is damaged: %s", location, fault.PublicMessage(err))
}

// put keeps a document, even one that is larger than all of them may be: it is asked for again and again.
func (d *documents) put(key string, doc document) {
	d.parsed.Put(key, doc, min(int64(doc.Size()), d.budget))
}

// forget drops the document of a key.
func (d *documents) forget(key string) { d.parsed.Forget(key) }

// Document gives the parsed metadata file at a location, through the cache. Reconciliation reads by it what the commit
// has just put there.
func (s *Service) Document(ctx context.Context, location string) (*metadata.Document, error) {
	return s.documents.get(ctx, location)
}
