package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/store/pgtest"
)

// asProgram makes the test binary be the program: a process of its own, for signals and users.
const asProgram = "SLUICE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		_ = os.Unsetenv(asProgram)
		main()
		return
	}
	os.Exit(pgtest.Main(m))
}

// output is what a command printed; it may be read while the command runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// command runs a command in this process.
func command(env map[string]string, args ...string) (code int, out, errOut string) {
	var o, e output
	lookup := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	code = run(context.Background(), args, lookup, &o, &e)
	return code, o.String(), e.String()
}

// program is a process of sluice.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    output
	errOut output
	ended  chan struct{}
}

func startProgram(t *testing.T, prepare func(*exec.Cmd), args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	p.cmd.Env = []string{asProgram + "=1", "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir()}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errOut
	if prepare != nil {
		prepare(p.cmd)
	}
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		if p.running() {
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
	})
	return p
}

func (p *program) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// exit waits for the process and gives its exit code.
func (p *program) exit(within time.Duration) int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		p.t.Fatalf("still running after %s\n%s", within, p.errOut.String())
		return -1
	}
}

func (p *program) signal(s syscall.Signal) { require.NoError(p.t, p.cmd.Process.Signal(s)) }

func serveArgs(folder string, more ...string) []string {
	return append([]string{"serve", "--data", folder, "--listen", "127.0.0.1:0", "--temporal-port", "0", "--ui-port", "0"}, more...)
}

// startServe starts serve and waits until it is ready.
func startServe(t *testing.T, folder string, more ...string) (*program, bootstrapFile) {
	t.Helper()
	p := startProgram(t, nil, serveArgs(folder, more...)...)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if strings.Contains(p.out.String(), "Sluice is ready") {
			break
		}
		if !p.running() || time.Now().After(deadline) {
			t.Fatalf("serve did not become ready\n%s\n%s", p.out.String(), p.errOut.String())
		}
	}
	b, err := readBootstrapFile(folder)
	require.NoError(t, err)
	return p, b
}

func (p *program) stopServe() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	require.Equal(p.t, exitOK, p.exit(10*time.Second), p.errOut.String())
}

func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	return send(t, http.MethodGet, url, token, "")
}

func send(t *testing.T, method, url, token, content string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(content))
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func readJSON(t *testing.T, path string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Clean(path))
	require.NoError(t, err)
	var content map[string]any
	require.NoError(t, json.Unmarshal(data, &content))
	return content
}
