package temporalx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/server/temporal"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	defaultIP        = "127.0.0.1"
	defaultNamespace = "sluice"
	defaultRetention = 72 * time.Hour

	// readyTimeout bounds how long a started server may take until its namespace answers.
	readyTimeout = 60 * time.Second
	// stopTimeout bounds Stop. Temporal gives calls that do not end 1 to 2 s per service.
	stopTimeout = 6 * time.Second
)

// ServerOptions say where the embedded server keeps its state and listens.
type ServerOptions struct {
	DataDir      string        // folder of temporal.db and temporal-version.json; made with mode 0700
	IP           string        // of the frontend and the UI, default 127.0.0.1; neither asks who is calling
	FrontendPort int           // 0 = any free one
	UIPort       int           // 0 = any free one, NoUI = no Web UI
	Namespace    string        // default "sluice"
	Retention    time.Duration // of closed workflows, set when the namespace is created; default 72h
	Logger       *slog.Logger  // gets Temporal's warnings and errors, and everything if it is enabled for debug
}

// NoUI as UIPort starts the server without the Web UI.
const NoUI = -1

// Server is a running Temporal server (frontend, history, matching, worker) and its Web UI.
type Server struct {
	address   string
	uiAddress string
	store     *store
	temporal  temporal.Server
	reports   serverLogger // of temporal
	ui        *webUI
	logger    *slog.Logger
	stop      sync.Once
}

// StartServer starts the server on the state in o.DataDir and returns once its
// namespace can run workflows. ctx bounds the start only; Stop ends the server.
// At most one process may use a DataDir; the caller holds the lock for that.
func StartServer(ctx context.Context, o ServerOptions) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	// All checks that can fail come before Temporal, which treats a bind error as fatal.
	ports, err := reservePorts(o)
	if err != nil {
		return nil, err
	}
	defer ports.release()
	store, err := openStore(o.DataDir)
	if err != nil {
		return nil, err
	}
	if err := store.createNamespace(o.Namespace, o.Retention); err != nil {
		return nil, err
	}

	s := &Server{address: ports.frontend.dialAddress(), store: store, logger: o.Logger}
	if err := s.startTemporal(o, ports); err != nil {
		return nil, err
	}
	if err := s.startUI(ctx, o, ports); err != nil {
		s.Stop()
		return nil, err
	}
	if err := s.awaitReady(ctx, o); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Address is where clients reach the frontend: host:port.
func (s *Server) Address() string { return s.address }

// UIAddress is the base of the Web UI, as http://host:port; empty without one.
func (s *Server) UIAddress() string { return s.uiAddress }

// Stop ends the UI, then the server, and returns within a few seconds. Further calls do nothing.
func (s *Server) Stop() {
	s.stop.Do(func() {
		s.reports.enter(stopping)
		if s.ui != nil {
			s.ui.stop()
		}
		done := make(chan error, 1)
		go func() { done <- stopTemporal(s.temporal) }()
		select {
		case err := <-done:
			if err != nil {
				s.logger.Warn("embedded Temporal did not stop cleanly", "error", err)
			}
			if err := s.store.checkpoint(); err != nil {
				s.logger.Warn("embedded Temporal left a write-ahead log behind", "error", err)
			}
		case <-time.After(stopTimeout):
			// Nothing is lost: the store is safe against a killed process too.
			s.logger.Warn("embedded Temporal is still stopping", "waited", stopTimeout)
		}
	})
}

func (o ServerOptions) withDefaults() (ServerOptions, error) {
	if o.IP == "" {
		o.IP = defaultIP
	}
	if o.Namespace == "" {
		o.Namespace = defaultNamespace
	}
	if o.Retention == 0 {
		o.Retention = defaultRetention
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if o.DataDir == "" {
		return o, fault.New(fault.Invalid, "the embedded Temporal server needs a data folder")
	}
	// Absolute, because other parts of the process change the working directory.
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return o, fault.Wrap(err, fault.Invalid, "the Temporal data folder %q has no absolute path", o.DataDir)
	}
	o.DataDir = dir
	return o, nil
}

func (s *Server) startTemporal(o ServerOptions, ports *ports) error {
	logger := newServerLogger(o.Logger)
	srv, err := buildTemporal(ports, s.store, logger)
	if err != nil {
		return err
	}
	logger.enter(running)
	if err := srv.Start(); err != nil {
		_ = stopTemporal(srv)
		return fault.Wrap(err, fault.Unavailable, "the embedded Temporal server did not start")
	}
	s.temporal, s.reports = srv, logger
	return nil
}

func (s *Server) startUI(ctx context.Context, o ServerOptions, ports *ports) error {
	if o.UIPort == NoUI {
		return nil
	}
	ui, err := startWebUI(ctx, ports.ui, s.address, o.Namespace, o.Logger)
	if err != nil {
		return err
	}
	s.ui, s.uiAddress = ui, "http://"+ports.ui.dialAddress()
	return nil
}

func (s *Server) awaitReady(ctx context.Context, o ServerOptions) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	c, err := Dial(ctx, ClientOptions{Address: s.address, Namespace: o.Namespace, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer c.Close()
	return EnsureNamespace(ctx, c, o.Namespace, o.Retention, nil)
}

// stopTemporal also turns a panic into an error: Temporal's services are not
// written to be stopped when only some of them had started.
func stopTemporal(srv temporal.Server) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(err, fmt.Errorf("panic while stopping: %v", r))
		}
	}()
	return srv.Stop()
}
