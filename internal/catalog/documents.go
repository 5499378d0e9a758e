package catalog

import (
	"container/list"
	"context"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// documents caches parsed metadata by location within a budget of bytes. Metadata files never change, so an entry is
// right for as long as it is kept; which location is current is always read from the store.
type documents struct {
	files  Files
	budget int64
	loads  singleflight.Group

	mu    sync.Mutex
	bytes int64
	order *list.List // of *cached, the most recently used first
	byLoc map[string]*list.Element
}

type cached struct {
	location string
	doc      *metadata.Document
}

func newDocuments(files Files, budget int64) *documents {
	return &documents{files: files, budget: budget, order: list.New(), byLoc: map[string]*list.Element{}}
}

// get gives the document of a metadata file; concurrent readers of one file share one read.
func (d *documents) get(ctx context.Context, location string) (*metadata.Document, error) {
	if doc, ok := d.lookUp(location); ok {
		return doc, nil
	}
	// The read outlives the first asker's context, or one impatient client would fail all who wait with it.
	ch := d.loads.DoChan(location, func() (any, error) { return d.read(context.WithoutCancel(ctx), location) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-ch:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*metadata.Document), nil
	}
}

func (d *documents) read(ctx context.Context, location string) (*metadata.Document, error) {
	raw, err := d.files.ReadFile(ctx, location)
	if err != nil {
		return nil, err
	}
	raw, err = metadata.Decompress(location, raw)
	if err != nil {
		return nil, damaged(err, location)
	}
	doc, err := metadata.Parse(raw)
	if err != nil {
		return nil, damaged(err, location)
	}
	d.put(location, doc)
	return doc, nil
}

// damaged: a stored file that cannot be read is the server's trouble, not a bad request of whoever asks for it.
func damaged(err error, location string) error {
	return fault.Wrap(err, fault.Internal, "The metadata file %s is damaged: %s", location, fault.PublicMessage(err))
}

func (d *documents) lookUp(location string) (*metadata.Document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.byLoc[location]
	if !ok {
		return nil, false
	}
	d.order.MoveToFront(e)
	return e.Value.(*cached).doc, true
}

func (d *documents) put(location string, doc *metadata.Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.byLoc[location]; ok {
		return
	}
	d.byLoc[location] = d.order.PushFront(&cached{location: location, doc: doc})
	d.bytes += int64(doc.Size())
	for d.bytes > d.budget && d.order.Len() > 1 {
		oldest := d.order.Remove(d.order.Back()).(*cached)
		delete(d.byLoc, oldest.location)
		d.bytes -= int64(oldest.doc.Size())
	}
}

// Document gives the parsed metadata file at a location, through the cache. Reconciliation reads by it what the commit
// has just put there.
func (s *Service) Document(ctx context.Context, location string) (*metadata.Document, error) {
	return s.documents.get(ctx, location)
}
