package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/rows"
)

// Headers of answers with rows.
const (
	snapshotHeader  = "Sluice-Snapshot-Id"
	rowsHeader      = "Sluice-Rows"            // of the snapshot, deletes aside: how many there may be at most
	nextTokenHeader = "Sluice-Next-Page-Token" //nolint:gosec // a name
)

// sendBytes is how much of an answer is gathered before it is sent.
const sendBytes = 64 << 10

// errGone is the error of a client that does not take its answer.
var errGone = errors.New("the client does not take the answer")

// sink is an answer with rows on its way to the client. How long a client may take for a part of it is the business of
// what stands behind the server.
type sink struct {
	c    *gin.Context
	to   *bufio.Writer // nil: not begun
	sent bool          // the client may have something of it
}

// Begin sends the head.
func (s *sink) Begin(h dataplane.Head) (io.Writer, error) {
	header := s.c.Writer.Header()
	header.Set("Content-Type", string(h.Format))
	header.Set("Cache-Control", kept(h.Format))
	header.Set("X-Accel-Buffering", "no") // proxies need not hold the answer
	if h.SnapshotID != nil {
		header.Set(snapshotHeader, strconv.FormatInt(*h.SnapshotID, 10))
	}
	if h.Rows != nil {
		header.Set(rowsHeader, strconv.FormatInt(*h.Rows, 10))
	}
	if h.NextPageToken != "" {
		header.Set(nextTokenHeader, h.NextPageToken)
	}
	s.c.Status(http.StatusOK)
	s.to = bufio.NewWriterSize(flusher{s}, sendBytes)
	return s, nil
}

// kept says that nobody may keep an answer. Rows for programs are not compressed either: they come at the rate at which
// they are read, and it would cost more time than it saves.
func kept(f rows.Format) string {
	if f == rows.ArrowStream {
		return "no-store, no-transform"
	}
	return "no-store"
}

// withdraw takes an answer back of which nothing was sent.
func (s *sink) withdraw() {
	for _, name := range []string{"Content-Type", "X-Accel-Buffering", snapshotHeader, rowsHeader, nextTokenHeader} {
		s.c.Writer.Header().Del(name)
	}
	s.c.Writer.Header().Set("Cache-Control", "no-store")
}

// Write adds to the answer.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if err != nil {
		return n, fmt.Errorf("%w: %w", errGone, err)
	}
	return n, nil
}

// finish sends what was gathered.
func (s *sink) finish() error {
	if err := s.to.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// flusher sends each part at once, so that a client sees rows while more are read.
type flusher struct{ s *sink }

func (f flusher) Write(p []byte) (int, error) {
	f.s.sent = true
	n, err := f.s.c.Writer.Write(p)
	if err == nil {
		f.s.c.Writer.Flush()
	}
	return n, err
}
