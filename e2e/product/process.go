package product

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a running sluice.
type Process struct {
	cmd    *exec.Cmd
	log    *os.File
	exited chan struct{}
	err    error // of Wait, once exited is closed
}

// Start runs the program; env adds to this process's environment, and its output is appended to the file log.
func Start(binary string, env []string, log string, args ...string) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = append(os.Environ(), env...), file, file, dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p := &Process{cmd: cmd, log: file, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		_ = file.Close()
		close(p.exited)
	}()
	return p, nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Kill ends the process at once (SIGKILL) and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Stop asks the process to end (SIGTERM) and fails when that takes longer than within or its exit code is not 0.
func (p *Process) Stop(within time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.exited:
		if p.err != nil {
			return fmt.Errorf("sluice ended badly: %w\n%s", p.err, p.Tail(2000))
		}
		return nil
	case <-time.After(within):
		p.Kill()
		return fmt.Errorf("sluice did not end within %s of SIGTERM and was killed", within)
	}
}

// Tail gives the last bytes of what the process has printed.
func (p *Process) Tail(size int) string {
	all, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(all[max(0, len(all)-size):]))
}

// waitUntil polls until ready, the process ends, or ctx does.
func (p *Process) waitUntil(ctx context.Context, what string, ready func() error) error {
	var last error
	for {
		if last = ready(); last == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("sluice ended before it was ready: %w\n%s", p.err, p.Tail(2000))
		case <-ctx.Done():
			return fmt.Errorf("%s: %w\n%s", what, errors.Join(ctx.Err(), last), p.Tail(2000))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
