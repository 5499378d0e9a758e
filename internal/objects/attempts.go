package objects

import (
	"context"
	"net/http"
	"sync/atomic"
)

// attemptsKey is the context key of a request's attempt counter.
type attemptsKey struct{}

// CountAttempts gives a context whose requests are counted where the client sends through a CountingTransport: the
// retries inside the client included, which is how a store finds that it met its own object.
func CountAttempts(ctx context.Context) (context.Context, *atomic.Int32) {
	n := new(atomic.Int32)
	return context.WithValue(ctx, attemptsKey{}, n), n
}

// CountingTransport counts requests of contexts that ask for it.
type CountingTransport struct{ Next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t CountingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if n, ok := req.Context().Value(attemptsKey{}).(*atomic.Int32); ok {
		n.Add(1)
	}
	return t.Next.RoundTrip(req)
}
