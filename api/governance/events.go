package governance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// EventsPath is that of the stream of events, below the API's own.
const EventsPath = "/events"

const (
	// beatEvery is how often a stream that has nothing to tell says so, and how often it is looked whether its client may still
	// listen.
	beatEvery = 15 * time.Second
	// reconnectAfter is what clients are told to wait before they come again.
	reconnectAfter = 2 * time.Second
	// resumeHeader is where a client that comes again says what it got last.
	resumeHeader = "Last-Event-ID"
)

// streamEvents sends audit events as they are sealed, for as long as the client stays, its token lasts and it may see them.
// Each has its place in the audit as its id, so that a client that comes again misses nothing.
func (h *Handler) streamEvents(c *gin.Context) error {
	asked, err := eventFilter(c)
	if err != nil {
		return err
	}
	after, err := placeOf(c)
	if err != nil {
		return err
	}
	caller := wire.Caller(c)
	filter, err := h.Records.AuditScope(c.Request.Context(), caller, asked)
	if err != nil {
		return err
	}
	ctx, cancel := wire.Whole(c), func() {}
	if caller.ExpiresAt != nil {
		ctx, cancel = context.WithDeadline(ctx, *caller.ExpiresAt)
	}
	defer cancel()
	stream, err := h.Feed.Open(ctx, after)
	if err != nil {
		return err
	}
	defer stream.Close()
	s := &eventStream{h: h, c: c, stream: stream, asked: asked, filter: filter}
	s.begin()
	s.run(ctx)
	return nil
}

// eventFilter reads what is to be sent. Unlike the audit's list it takes groups of types, such as finding.*
func eventFilter(c *gin.Context) (models.AuditFilter, error) {
	filter := models.AuditFilter{Principal: c.Query("principal"), Catalog: c.Query("catalog")}
	if pattern := c.Query("type"); pattern != "" {
		filter.Type = models.AuditType(pattern)
		if _, group := models.TypeGroup(pattern); group && models.KnownPattern(pattern) {
			return aboutTable(filter, c.Query("table"))
		}
		if _, err := knownType(pattern); err != nil {
			return filter, err
		}
	}
	return aboutTable(filter, c.Query("table"))
}

// placeOf reads where a stream goes on: below 0 from now on.
func placeOf(c *gin.Context) (int64, error) {
	raw := c.GetHeader(resumeHeader)
	if raw == "" {
		raw = c.Query("after")
	}
	if raw == "" {
		return -1, nil
	}
	place, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || place < 0 {
		return 0, fault.New(fault.Invalid, "The header %s and the parameter after must be the id of an event of an earlier stream, or 0 for everything.", resumeHeader)
	}
	return place, nil
}

// eventStream is one answer being written.
type eventStream struct {
	h      *Handler
	c      *gin.Context
	stream *events.Stream
	asked  models.AuditFilter // as the client put it
	filter models.AuditFilter // as the client may see it
	buf    bytes.Buffer
}

func (s *eventStream) begin() {
	header := s.c.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // proxies that hold answers back would hold back events
	s.c.Status(http.StatusOK)
	fmt.Fprintf(&s.buf, "retry: %d\n\n", reconnectAfter.Milliseconds())
	_ = s.flush() // a client that has gone is noticed by the next one
}

// run returns when the stream is over, for whatever reason; the client sees its end, and comes again if it wants to.
func (s *eventStream) run(ctx context.Context) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	looked := time.Now()
	for {
		e, ok, err := s.stream.Next(ctx, beat.C)
		if err != nil {
			return
		}
		if ok && events.Matches(s.filter, e.AuditEvent) && s.write(e) != nil {
			return
		}
		if !ok || time.Since(looked) >= beatEvery {
			if !s.mayStay(ctx) {
				return
			}
			looked = time.Now()
			// An id without data tells the client how far the stream is, also where nothing was for it.
			fmt.Fprintf(&s.buf, ": beat\nid: %d\n\n", s.stream.At())
		}
		if s.buf.Len() > 0 && !s.stream.Ready() && s.flush() != nil {
			return
		}
	}
}

// mayStay tells whether the client's token is still good for what it gets.
func (s *eventStream) mayStay(ctx context.Context) bool {
	caller, err := wire.CallerAgain(ctx, s.c)
	if err != nil {
		return false
	}
	s.filter, err = s.h.Records.AuditScope(ctx, caller, s.asked)
	return err == nil
}

func (s *eventStream) write(e models.SealedEvent) error {
	fmt.Fprintf(&s.buf, "id: %d\nevent: %s\ndata: ", e.Seq, e.Type)
	enc := json.NewEncoder(&s.buf) // ends with a newline, and has no other
	enc.SetEscapeHTML(false)
	if err := enc.Encode(events.RecordOf(e.AuditEvent)); err != nil {
		return err
	}
	s.buf.WriteByte('\n')
	if s.buf.Len() < 1<<16 {
		return nil
	}
	return s.flush()
}

func (s *eventStream) flush() error {
	_, err := s.c.Writer.Write(s.buf.Bytes())
	s.buf.Reset()
	s.c.Writer.Flush()
	return err
}
