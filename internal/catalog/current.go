package catalog

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

const (
	// currentReads bounds how often a metadata file may be replaced and removed between reading its location and it.
	currentReads = 5
	// askAgain is how long a file in an object store, where asking takes a request, counts as seen.
	askAgain = 30 * time.Second
	// mostSeen bounds the memory of seen files.
	mostSeen = 10_000
)

// current reads a table's metadata for a commit: what the cache has is enough.
func (s *Service) current(ctx context.Context, row models.Table) (models.Table, *metadata.Document, error) {
	return s.readCurrent(ctx, row, false)
}

// present reads a table's metadata for an answer to a load: a table whose file is gone is not answered from the cache.
func (s *Service) present(ctx context.Context, row models.Table) (models.Table, *metadata.Document, error) {
	return s.readCurrent(ctx, row, true)
}

// readCurrent reads a table's metadata. A file that is gone may only have been cleaned up after a newer commit: the row is
// read again then, and given as it is. If it names the same file the table is damaged: operators are told, and the
// answer is fault.NotFound about the file.
func (s *Service) readCurrent(ctx context.Context, row models.Table, ask bool) (models.Table, *metadata.Document, error) {
	for attempt := 0; ; attempt++ {
		doc, err := s.documents.get(ctx, row.MetadataLocation)
		if err == nil && ask && s.presence.gone(ctx, row.MetadataLocation) {
			s.documents.forget(row.MetadataLocation)
			doc, err = s.documents.get(ctx, row.MetadataLocation)
		}
		if !fault.Is(err, fault.NotFound) || subjectOf(err) != fault.File {
			return row, doc, err
		}
		now, rowErr := s.store.TableByID(ctx, row.ID)
		if rowErr != nil {
			return row, nil, rowErr
		}
		if now.MetadataLocation == row.MetadataLocation || attempt == currentReads {
			s.log.ErrorContext(ctx, "the current metadata file of a table is missing: restore it, or register the table with an earlier one",
				"tableId", row.ID, "location", row.MetadataLocation)
			if s.missing != nil {
				s.missing(row.MetadataLocation)
			}
			return row, nil, err
		}
		if now.Name != row.Name || now.NamespaceID != row.NamespaceID {
			return row, nil, fault.About(fault.NotFound, fault.Table, "Table does not exist: it was renamed meanwhile.")
		}
		row = now
	}
}

func subjectOf(err error) fault.Subject {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Subject
	}
	return fault.NoSubject
}

// presence keeps the cache from answering for files that are gone. A local file is looked at each time, which takes
// microseconds; one in an object store at most every askAgain.
type presence struct {
	files Existence // nil: nothing is asked
	now   func() time.Time

	mu   sync.Mutex
	seen map[string]time.Time
}

// gone tells whether a file is known not to be there. In doubt it is there.
func (p *presence) gone(ctx context.Context, location string) bool {
	if p.files == nil {
		return false
	}
	local := strings.HasPrefix(location, "file:") || strings.HasPrefix(location, "/")
	now := p.now()
	if !local {
		p.mu.Lock()
		last, ok := p.seen[location]
		p.mu.Unlock()
		if ok && now.Sub(last) < askAgain {
			return false
		}
	}
	there, err := p.files.Exists(ctx, location)
	if err != nil || !there || local {
		return err == nil && !there
	}
	p.note(location)
	return false
}

// note remembers that a file was there now.
func (p *presence) note(location string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) >= mostSeen {
		clear(p.seen)
	}
	p.seen[location] = p.now()
}
