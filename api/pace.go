package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// Pace is how slow clients may be before they are cut off. Only the time that is spent waiting for the client counts, so
// that a long transfer that goes on lives, and one that is made to last ends. Zero fields mean the defaults.
type Pace struct {
	// Stranger and Known are what a request's body may take besides its bytes at Slowest: before the client is
	// authenticated, and after. Default 10 s and 30 s.
	Stranger, Known time.Duration
	// Write is what each part of an answer, of 64 KiB, may take. Default 30 s.
	Write time.Duration
	// Stall is what a body that came fast before may take for its next bytes: what it earned buys no more at once. Default
	// 2 min.
	Stall time.Duration
	// Slowest is in bytes a second. Default 16 KiB.
	Slowest int64
}

// writePart is how much of an answer is under one deadline, in bytes.
const writePart = 64 << 10

// Paced serves with h and ends connections of clients that are slower than the pace. It stands right behind a net/http
// server, whose own timeouts for bodies and answers would cut off long honest transfers too.
func Paced(h http.Handler, p Pace) http.Handler {
	p.Stranger = orDuration(p.Stranger, 10*time.Second)
	p.Known = orDuration(p.Known, 30*time.Second)
	p.Write = orDuration(p.Write, 30*time.Second)
	p.Stall = orDuration(p.Stall, 2*time.Minute)
	if p.Slowest <= 0 {
		p.Slowest = 16 << 10
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.Body != nil && r.Body != http.NoBody {
			body := &pacedBody{ReadCloser: r.Body, control: control, patience: p.Stranger, known: p.Known, stall: p.Stall, slowest: p.Slowest}
			// What the handler leaves unread the server reads, under this deadline.
			_ = control.SetReadDeadline(time.Now().Add(p.Stranger))
			r = r.WithContext(context.WithValue(r.Context(), paceKey{}, body))
			r.Body = body
		}
		h.ServeHTTP(&pacedWriter{ResponseWriter: w, control: control, patience: p.Write}, r)
	})
}

func orDuration(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// paceKey is where a request's context has its pacedBody.
type paceKey struct{}

// bePatient gives the client of the request the time of one that is known.
func bePatient(ctx context.Context) {
	if body, ok := ctx.Value(paceKey{}).(*pacedBody); ok {
		body.patience = body.known
	}
}

// pacedBody is read by the goroutine of its request alone.
type pacedBody struct {
	io.ReadCloser
	control  *http.ResponseController
	patience time.Duration
	known    time.Duration
	stall    time.Duration
	slowest  int64
	read     int64
	waited   time.Duration
	late     bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	earned := time.Duration(float64(b.read) / float64(b.slowest) * float64(time.Second))
	left := min(b.patience+earned-b.waited, max(b.stall, b.patience))
	if b.late || left <= 0 {
		b.late = true
		return 0, os.ErrDeadlineExceeded
	}
	start := time.Now()
	_ = b.control.SetReadDeadline(start.Add(left)) // fails for what is no connection, such as a test's recorder
	n, err := b.ReadCloser.Read(p)
	b.waited += time.Since(start)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		// From here on the server reads ahead, and would take the deadline for the client's end.
		_ = b.control.SetReadDeadline(time.Time{})
	case err != nil:
		b.late = errors.Is(err, os.ErrDeadlineExceeded)
	}
	return n, err
}

// pacedWriter gives every part of an answer a time of its own.
type pacedWriter struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(w.patience)) }

// WriteHeader starts the time of an answer that may have no body.
func (w *pacedWriter) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

func (w *pacedWriter) Write(p []byte) (int, error) {
	written := 0
	for {
		w.extend()
		part := p[written:min(len(p), written+writePart)]
		n, err := w.ResponseWriter.Write(part)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// Flush sends what was written so far.
func (w *pacedWriter) Flush() {
	w.extend()
	_ = w.control.Flush() // the client is gone; the next write says so
}
