package temporald

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/temporalx"
)

// portVariable and folderVariable make a program that calls Main a Temporal server.
const (
	portVariable   = "SLUICE_E2E_TEMPORAL_PORT"
	folderVariable = "SLUICE_E2E_TEMPORAL_FOLDER"
)

// Main is a Temporal server, and does not return, where Start started this process. Else it does nothing.
func Main() {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		return
	}
	if err := serve(folder, os.Getenv(portVariable)); err != nil {
		fmt.Fprintln(os.Stderr, "temporald:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(folder, port string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	server, err := temporalx.StartServer(ctx, temporalx.ServerOptions{
		DataDir: folder, FrontendPort: n, UIPort: temporalx.NoUI, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	defer server.Stop()
	<-ctx.Done()
	return nil
}

// Server is a Temporal on a port and a folder of its own, which keep what it has when it is started again.
type Server struct {
	folder, address string
	process         *product.Process
}

// Start starts a new server, its state and its log in a folder, and waits until it answers.
func Start(ctx context.Context, folder string) (*Server, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	address, err := product.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, address: address}
	return s, s.Restart(ctx)
}

// Address is host:port of the frontend.
func (s *Server) Address() string { return s.address }

// Process is the running one, or the last.
func (s *Server) Process() *product.Process { return s.process }

// Restart starts the server again after a Kill or a Stop, and waits until it answers.
func (s *Server) Restart(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	env := []string{folderVariable + "=" + s.folder, portVariable + "=" + port}
	if s.process, err = product.Start(program, env, filepath.Join(s.folder, "temporal.log")); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.process.Exited():
			return fmt.Errorf("temporal ended at once: %s", s.process.Tail(2000))
		default:
		}
		if time.Now().After(deadline) {
			s.process.Kill()
			return fmt.Errorf("temporal does not answer: %w", err)
		}
	}
}

// Kill ends the process at once (SIGKILL).
func (s *Server) Kill() { s.process.Kill() }

// Stop ends the process as an operator does.
func (s *Server) Stop() error { return s.process.Stop(15 * time.Second) }
