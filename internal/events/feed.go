package events

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// feedEvery is how often the feed looks for events while somebody listens.
	feedEvery = 500 * time.Millisecond
	// feedPage is how many events are read at a time.
	feedPage = 500
	// heldBack is how many events a listener may be behind before it is dropped: it comes again, and reads the rest itself.
	heldBack = 1000
	// mostStreams bounds the listeners of a process.
	mostStreams = 64
)

// Source is the sealed audit.
type Source interface {
	AuditState(ctx context.Context) (models.AuditState, error)
	// SealedEvents gives events whose place is after the given one, in order of their places.
	SealedEvents(ctx context.Context, after int64, limit int) ([]models.SealedEvent, error)
}

// Feed tells listeners of audit events once they are sealed. However many listen, the audit is read once, and not at all
// while nobody does. It is safe for concurrent use.
type Feed struct {
	source Source
	log    *slog.Logger

	mu      sync.Mutex
	closed  bool
	open    int // streams, with those that are still reading what was before them
	streams map[*Stream]struct{}
	head    int64 // place of the last event that the streams were told of; good while there are streams
	stop    context.CancelFunc
}

// NewFeed makes a Feed. Close ends it.
func NewFeed(source Source, log *slog.Logger) *Feed {
	return &Feed{source: source, log: log, streams: map[*Stream]struct{}{}}
}

// Close ends every stream, and lets nobody listen any more.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for s := range f.streams {
		f.drop(s)
	}
}

// Stream is one listener's events, in order and without a gap, from one place on.
type Stream struct {
	feed   *Feed
	at     int64                   // place of the last event given
	live   chan models.SealedEvent // nil until the past is read; closed when the stream is dropped
	behind []models.SealedEvent    // read and not given yet
	closed bool
}

// Open begins a stream of the events after a place; after below 0 is from now on. So is a place that no event has yet, which
// a client has after a database was restored: waiting for that place would pass over what happens until then. Errors are
// fault.Unavailable where too many listen. The stream must be closed.
func (f *Feed) Open(ctx context.Context, after int64) (*Stream, error) {
	if err := f.enter(); err != nil {
		return nil, err
	}
	s := &Stream{feed: f, at: after}
	state, err := f.source.AuditState(ctx)
	if err != nil {
		s.Close()
		return nil, err
	}
	if after < 0 || after > state.Seq {
		s.at = state.Seq
	}
	return s, nil
}

func (f *Feed) enter() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return fault.New(fault.Unavailable, "Sluice is shutting down: try again.")
	case f.open >= mostStreams:
		return fault.New(fault.Unavailable, "%d streams are open here, which is the most that there may be. Try again later.", mostStreams)
	}
	f.open++
	return nil
}

// Close ends the stream. Further calls do nothing.
func (s *Stream) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	s.feed.open--
	s.feed.drop(s)
}

// At gives the place of the last event that Next gave, or that the stream began after.
func (s *Stream) At() int64 { return s.at }

// Ready tells whether Next would give an event without waiting, as far as is known.
func (s *Stream) Ready() bool { return len(s.behind) > 0 || len(s.live) > 0 }

// Next waits for the next event, until at most. ok is false when there was none in that time. Errors are those of ctx, of
// the source, and fault.Unavailable when the stream was dropped, because its listener is too slow or the process stops: it
// can be opened again after At.
func (s *Stream) Next(ctx context.Context, until <-chan time.Time) (e models.SealedEvent, ok bool, err error) {
	if s.live == nil && len(s.behind) == 0 {
		if err := s.catchUp(ctx); err != nil {
			return e, false, err
		}
	}
	if len(s.behind) > 0 {
		if err := s.feed.ended(); err != nil {
			return e, false, err
		}
		e, s.behind = s.behind[0], s.behind[1:]
		s.at = e.Seq
		return e, true, nil
	}
	for {
		select {
		case e, there := <-s.live:
			if !there {
				return e, false, fault.New(fault.Unavailable, "The stream was ended by the server: open it again.")
			}
			if e.Seq <= s.at {
				continue // it was read with the past
			}
			s.at = e.Seq
			return e, true, nil
		case <-until:
			return e, false, nil
		case <-ctx.Done():
			return e, false, ctx.Err()
		}
	}
}

func (f *Feed) ended() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fault.New(fault.Unavailable, "Sluice is shutting down: open the stream again.")
	}
	return nil
}

// catchUp reads a page of the past. After the last one it listens, and reads once more what came in between.
func (s *Stream) catchUp(ctx context.Context) error {
	page, err := s.feed.source.SealedEvents(ctx, s.at, feedPage)
	if err != nil {
		return err
	}
	s.behind = page
	if len(page) == feedPage {
		return nil
	}
	at := s.at
	if len(page) > 0 {
		at = page[len(page)-1].Seq
	}
	if err := s.feed.listen(s, at); err != nil { //nolint:contextcheck // the reading outlives the stream that begins it
		return err
	}
	for {
		page, err := s.feed.source.SealedEvents(ctx, at, feedPage)
		if err != nil {
			return err
		}
		s.behind = append(s.behind, page...)
		if len(page) < feedPage {
			return nil
		}
		at = page[len(page)-1].Seq
	}
}

// listen adds a stream to those that are told, and begins to read when it is the first.
func (f *Feed) listen(s *Stream, at int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fault.New(fault.Unavailable, "Sluice is shutting down: open the stream again.")
	}
	s.live = make(chan models.SealedEvent, heldBack)
	f.streams[s] = struct{}{}
	if f.stop != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.head, f.stop = at, cancel
	go f.run(ctx)
	return nil
}

// drop takes a stream out; f.mu is held.
func (f *Feed) drop(s *Stream) {
	if _, there := f.streams[s]; !there {
		return
	}
	delete(f.streams, s)
	close(s.live)
	if len(f.streams) == 0 && f.stop != nil {
		f.stop()
		f.stop = nil
	}
}

func (f *Feed) run(ctx context.Context) {
	tick := time.NewTicker(feedEvery)
	defer tick.Stop()
	for {
		for f.round(ctx) {
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// round reads a page and tells the streams of it; more tells whether there may be another.
func (f *Feed) round(ctx context.Context) (more bool) {
	f.mu.Lock()
	head := f.head
	f.mu.Unlock()
	page, err := f.source.SealedEvents(ctx, head, feedPage)
	if err != nil {
		if ctx.Err() == nil {
			f.log.Warn("the event streams wait for the database", "error", err)
		}
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil || len(page) == 0 {
		return false // another run may have begun meanwhile, with a head of its own
	}
	for s := range f.streams {
		f.tell(s, page)
	}
	f.head = page[len(page)-1].Seq
	return len(page) == feedPage
}

// tell gives a stream a page; one that has no room for it is dropped.
func (f *Feed) tell(s *Stream, page []models.SealedEvent) {
	for _, e := range page {
		select {
		case s.live <- e:
		default:
			f.drop(s)
			return
		}
	}
}
