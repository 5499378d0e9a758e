package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// headerTimeout bounds how long a client may take to send a request's header.
	headerTimeout = 10 * time.Second
	// idleTimeout is longer than what load balancers and engines keep connections for.
	idleTimeout = 3 * time.Minute
)

// httpServer holds its port from the start and answers 503 until it is given something to serve.
type httpServer struct {
	listener net.Listener
	server   *http.Server
	handler  atomic.Pointer[http.Handler]
	ended    chan error // gets why Serve ended, nil after a drain
}

// listen takes the address and starts to answer.
func listen(address string, logger *slog.Logger) (*httpServer, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.New(fault.Unavailable, "the address %s is taken by another process: stop it, or set --listen to another port or to port 0 for any free one", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fault.New(fault.Unavailable, "this user may not listen on %s: set --listen to a port above 1023", address)
	case err != nil:
		return nil, fault.New(fault.Unavailable, "cannot listen on %s: set --listen to an address of this machine (%v)", address, err)
	}
	s := &httpServer{listener: l, ended: make(chan error, 1)}
	s.use(http.HandlerFunc(starting))
	s.server = &http.Server{
		Handler: api.Paced(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*s.handler.Load()).ServeHTTP(w, r)
		}), api.Pace{}),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	go func() {
		err := s.server.Serve(api.ProtocolErrors(l))
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		s.ended <- err
	}()
	return s, nil
}

// use serves with h from the next request on.
func (s *httpServer) use(h http.Handler) { s.handler.Store(&h) }

// base is the URL by which this machine reaches the server.
func (s *httpServer) base() string {
	host, port, _ := net.SplitHostPort(s.listener.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// onDrain has f called when a drain begins: it ends what would not end by itself.
func (s *httpServer) onDrain(f func()) { s.server.RegisterOnShutdown(f) }

// drain closes the port and lets running requests end within the timeout.
func (s *httpServer) drain(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
}

// starting answers while the parts behind the API are not there yet.
func starting(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/healthz" {
		_, _ = w.Write([]byte(`{"status":"starting"}` + "\n"))
		return
	}
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(`{"error":{"message":"Sluice is starting. Try again in a second.","type":"ServiceUnavailableException","code":503}}` + "\n"))
}
