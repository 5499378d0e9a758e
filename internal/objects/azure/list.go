package azure

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

const (
	maxPage    = 5000 // objects that Azure gives at most in one answer
	maxMarkers = 256  // listings that are remembered for their next page
)

// List implements objects.Store. What stands for a folder is not shown.
//
// Azure goes on from markers of its own, not from names. The marker of a page's last name is remembered; for another name,
// or after a restart, the listing is read from its begin and skipped up to the name.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]objects.Info, error) {
	loc, ctx, cancel, err := s.begin(ctx, prefix)
	if err != nil {
		return nil, err
	}
	defer cancel()
	afterKey, err := objects.KeyAfter(loc, after)
	if err != nil {
		return nil, err
	}
	w := &walk{store: s, loc: loc, after: afterKey, limit: objects.PageSize(limit)}
	if w.marker = s.markers.of(loc, afterKey); w.marker == "" {
		return w.run(ctx)
	}
	found, err := w.run(ctx)
	if w.refused {
		w = &walk{store: s, loc: loc, after: afterKey, limit: w.limit}
		return w.run(ctx)
	}
	return found, err
}

// walk collects one page of a listing.
type walk struct {
	store *Store
	loc   objects.Location
	after string // key; what is not behind it is skipped
	limit int

	marker  string // where to go on, "" for the begin
	refused bool   // Azure does not know the marker
	last    string // key that was seen last
	more    bool   // Azure's page goes on after it
	found   []objects.Info
}

func (w *walk) run(ctx context.Context) ([]objects.Info, error) {
	w.found = make([]objects.Info, 0, min(w.limit, 64))
	for {
		size := w.limit
		if w.after != "" && w.marker == "" {
			size = maxPage // much of it is skipped
		}
		options := &container.ListBlobsFlatOptions{MaxResults: to.Ptr(int32(size)), Include: container.ListBlobsInclude{Metadata: true}}
		if w.loc.Key() != "" {
			options.Prefix = to.Ptr(w.loc.Key() + "/")
		}
		if w.marker != "" {
			options.Marker = to.Ptr(w.marker)
		}
		page, err := w.store.account.container(w.loc).NewListBlobsFlatPager(options).NextPage(ctx)
		if err != nil {
			status, _ := answer(err)
			w.refused = w.marker != "" && status == http.StatusBadRequest
			return nil, storeFault(ctx, w.loc, err)
		}
		full, err := w.take(page.Segment.BlobItems)
		if err != nil {
			return nil, err
		}
		next := ""
		if page.NextMarker != nil {
			next = *page.NextMarker
		}
		if full {
			w.remember(next)
			return w.found, nil
		}
		if next == "" {
			return w.found, nil
		}
		w.marker = next
	}
}

// take adds what Azure gave, and tells whether the page is full.
func (w *walk) take(items []*container.BlobItem) (full bool, err error) {
	for i, item := range items {
		if item.Name == nil || item.Properties == nil {
			continue
		}
		key := *item.Name
		skipping := w.after != "" && len(w.found) == 0
		if skipping && w.last != "" && w.store.order.compare(key, w.last) < 0 {
			return false, fault.New(fault.Unavailable, "Azure lists %s in another order than its kind of account does. Set hierarchical=%t for the storage of account %s.",
				w.loc, !w.store.order.hierarchical, w.store.account.name)
		}
		w.last, w.more = key, i+1 < len(items)
		if skipping && w.store.order.compare(key, w.after) <= 0 || !isObject(item) {
			continue
		}
		info := objects.Info{Location: w.loc.At(key).String(), Size: *item.Properties.ContentLength}
		if item.Properties.LastModified != nil {
			info.Modified = *item.Properties.LastModified
		}
		if w.found = append(w.found, info); len(w.found) == w.limit {
			return true, nil
		}
	}
	return false, nil
}

// isObject tells an object from what stands for a folder.
func isObject(item *container.BlobItem) bool {
	p := item.Properties
	folder := strings.HasSuffix(*item.Name, "/") || isFolder(item.Metadata) || p.ResourceType != nil && *p.ResourceType == resourceTypeOfFolder
	return p.ContentLength != nil && !folder
}

// remember keeps where the page after this one begins: at Azure's next page when this one was used up, else at this.
func (w *walk) remember(next string) {
	last := w.found[len(w.found)-1].Location
	key := strings.TrimPrefix(last, w.loc.At("").String()+"/")
	if !w.more && next != "" {
		w.store.markers.keep(w.loc, key, next)
		return
	}
	w.store.markers.keep(w.loc, key, w.marker)
}

// order is that in which an account lists names.
type order struct{ hierarchical bool }

// compare is of bytes; a hierarchical account goes by segments, as if the slash came before all other characters.
func (o order) compare(a, b string) int {
	if !o.hierarchical {
		return strings.Compare(a, b)
	}
	return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

// markers remembers where listings go on. It forgets the oldest.
type markers struct {
	mu     sync.Mutex
	byPage map[string]string
	oldest []string
}

func page(loc objects.Location, after string) string { return loc.String() + "\x00" + after }

func (m *markers) of(loc objects.Location, after string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byPage[page(loc, after)]
}

func (m *markers) keep(loc objects.Location, after, marker string) {
	if marker == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byPage == nil {
		m.byPage = make(map[string]string, maxMarkers)
	}
	name := page(loc, after)
	if _, known := m.byPage[name]; !known {
		m.oldest = append(m.oldest, name)
	}
	m.byPage[name] = marker
	if len(m.oldest) > maxMarkers {
		delete(m.byPage, m.oldest[0])
		m.oldest = m.oldest[1:]
	}
}
