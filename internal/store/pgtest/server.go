package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNotInstalled says that PostgreSQL's server binaries were not found.
var ErrNotInstalled = errors.New("PostgreSQL's server binaries are not installed (pg_config --bindir)")

// Options says how the server is to behave.
type Options struct {
	// Durable keeps fsync on, as benchmarks and crash tests need; otherwise commits are fast and a crash loses them.
	Durable bool
	// Settings are further server settings.
	Settings map[string]string
}

// Server is a running private server.
type Server struct {
	dir     string
	bin     string // folder of the binaries
	options Options
	port    int
	process *exec.Cmd
	exited  chan struct{}
}

// Start makes a cluster in a new folder and runs it on a free port of 127.0.0.1. The server ends with this process
// on Linux, however that ends.
func Start(ctx context.Context, options Options) (*Server, error) {
	bin, err := binaries(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sluice-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, options: options}
	if err := s.launch(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) launch(ctx context.Context) error {
	attr, owner, err := unprivileged()
	if err != nil {
		return err
	}
	if owner >= 0 {
		if err := os.Chown(s.dir, owner, -1); err != nil {
			return err
		}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), //nolint:gosec // the installed binary
		"--pgdata", s.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = attr, s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	for attempt := 0; ; attempt++ {
		if s.port, err = freePort(ctx); err != nil {
			return err
		}
		if err = s.serve(ctx, attr); err == nil {
			return s.createDatabase(ctx)
		}
		if attempt == 2 {
			return err
		}
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// serve starts the server process and waits until it answers.
func (s *Server) serve(ctx context.Context, attr *syscall.SysProcAttr) error {
	args := []string{"-D", s.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-k", ""}
	settings := map[string]string{
		"max_connections": "200", "shared_buffers": "64MB", "max_wal_size": "2GB", "jit": "off", "log_min_messages": "fatal",
	}
	if !s.options.Durable {
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	for k, v := range s.options.Settings {
		settings[k] = v
	}
	for k, v := range settings {
		args = append(args, "-c", k+"="+v)
	}
	log := &bytes.Buffer{}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...) //nolint:gosec // the installed binary
	cmd.SysProcAttr, cmd.Dir, cmd.Stdout, cmd.Stderr = attr, s.dir, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	s.process, s.exited = cmd, exited
	deadline := time.After(time.Minute)
	for {
		conn, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-exited:
			return fmt.Errorf("postgres ended at once: %s", strings.TrimSpace(log.String()))
		case <-deadline:
			return fmt.Errorf("postgres does not answer: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) createDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	// A locale that sorts unlike bytes shows a column that forgot its collation. Not every build has one.
	_, err = conn.Exec(ctx, "CREATE DATABASE sluice TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
	if err != nil {
		_, err = conn.Exec(ctx, "CREATE DATABASE sluice TEMPLATE template0")
	}
	return errors.Join(err, conn.Close(ctx))
}

// URL is a superuser's, on the empty database sluice.
func (s *Server) URL() string { return s.url("sluice") }

func (s *Server) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// PID is the server's main process, for tests that kill it.
func (s *Server) PID() int { return s.process.Process.Pid }

// Kill ends the server's main process in the middle of whatever it does (SIGKILL). What else belongs to the server then ends
// by itself, soon.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	<-s.exited
}

// Restart starts a killed server again, on its port, and waits until it has recovered what was committed.
func (s *Server) Restart(ctx context.Context) error {
	attr, _, err := unprivileged()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		// It refuses while processes of the killed one are left.
		if err = s.serve(ctx, attr); err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
	}
}

// Stop ends the server at once and removes its folder.
func (s *Server) Stop() {
	if s.process != nil {
		select {
		case <-s.exited:
		default:
			_ = s.process.Process.Signal(syscall.SIGQUIT) // immediate shutdown
			select {
			case <-s.exited:
			case <-time.After(10 * time.Second):
				_ = s.process.Process.Kill()
				<-s.exited
			}
		}
	}
	_ = os.RemoveAll(s.dir)
}

func binaries(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output()
	if err != nil {
		return "", ErrNotInstalled
	}
	bin := strings.TrimSpace(string(out))
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return "", ErrNotInstalled
		}
	}
	return bin, nil
}

func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
