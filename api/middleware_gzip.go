package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

// compressFrom is the number of bytes from which an answer is worth compressing. Below, compressing was a fifth of the
// server's work at a commit, to save a packet or two.
const compressFrom = 16 << 10

// compressAnswers compresses answers for clients that accept gzip, but for those that forbid it by "Cache-Control:
// no-transform".
func compressAnswers() gin.HandlerFunc {
	pool := &sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
		return w
	}}
	return func(c *gin.Context) {
		c.Writer.Header().Add("Vary", "Accept-Encoding")
		if c.Request.Method == http.MethodHead || !acceptsGzip(c.Request.Header.Values("Accept-Encoding")) {
			return
		}
		plain := c.Writer
		w := &gzipWriter{ResponseWriter: plain, pool: pool}
		c.Writer = w
		defer func() { c.Writer = plain }() // a panic leaves what was held back unsent
		c.Next()
		w.finish()
	}
}

// acceptsGzip weighs gzip by its own entry, else by that of "*".
func acceptsGzip(headers []string) bool {
	wildcard := false
	for _, header := range headers {
		for part := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(part, ";")
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"):
				return weighs(params)
			case name == "*":
				wildcard = weighs(params)
			}
		}
	}
	return wildcard
}

func weighs(params string) bool {
	q, given := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
	weight, err := strconv.ParseFloat(q, 64)
	return !given || err != nil || weight > 0
}

// gzipWriter holds an answer back until it knows that it is long enough, then compresses it.
type gzipWriter struct {
	gin.ResponseWriter
	pool    *sync.Pool
	held    []byte
	decided bool
	gz      *gzip.Writer // nil: plain
}

func (w *gzipWriter) Write(p []byte) (int, error) {
	if !w.decided {
		length, err := strconv.Atoi(w.Header().Get("Content-Length"))
		known := err == nil
		switch {
		case !w.compressible(), known && length < compressFrom:
			w.decide(false)
		case known, len(w.held)+len(p) >= compressFrom:
			w.decide(true)
		default:
			w.held = append(w.held, p...)
			return len(p), nil
		}
		if err := w.release(); err != nil {
			return 0, err
		}
	}
	if w.gz != nil {
		return w.gz.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// WriteString is Write for strings.
func (w *gzipWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// Written tells whether the handler wrote something, sent or not.
func (w *gzipWriter) Written() bool { return len(w.held) > 0 || w.ResponseWriter.Written() }

// Flush sends what was written so far; a streamed answer is compressed whatever its length.
func (w *gzipWriter) Flush() {
	if !w.decided {
		w.decide(w.compressible())
		_ = w.release() // the client is gone; the next write says so
	}
	if w.gz != nil {
		_ = w.gz.Flush()
	}
	w.ResponseWriter.Flush()
}

func (w *gzipWriter) compressible() bool {
	h := w.Header()
	return w.Status() >= http.StatusOK && w.Status() != http.StatusNoContent && w.Status() != http.StatusNotModified &&
		h.Get("Content-Encoding") == "" && h.Get("Content-Range") == "" && h.Get("Content-Type") != "text/event-stream" &&
		!strings.Contains(h.Get("Cache-Control"), "no-transform")
}

func (w *gzipWriter) decide(compress bool) {
	w.decided = true
	if !compress {
		return
	}
	w.Header().Del("Content-Length")
	w.Header().Set("Content-Encoding", "gzip")
	w.gz, _ = w.pool.Get().(*gzip.Writer)
	w.gz.Reset(w.ResponseWriter)
}

func (w *gzipWriter) release() error {
	if len(w.held) == 0 {
		return nil
	}
	held := w.held
	w.held = nil
	var to io.Writer = w.ResponseWriter
	if w.gz != nil {
		to = w.gz
	}
	_, err := to.Write(held)
	return err
}

// finish sends a short answer that was held back, or the end of a compressed one.
func (w *gzipWriter) finish() {
	if !w.decided {
		w.decide(false)
		_ = w.release() // the client is gone
	}
	if w.gz != nil {
		_ = w.gz.Close() // likewise
		w.pool.Put(w.gz)
		w.gz = nil
	}
}
