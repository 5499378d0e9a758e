package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
)

// patience bounds every wait: the machine may be busy.
const patience = time.Minute

// lab is one running serve with short intervals, which all tests share: each has tables of its own.
type lab struct {
	binary, folder string
	process        *product.Process
	boot           product.Bootstrap
	client         *http.Client
}

// opened gives the lab, started once.
var opened func() (*lab, error)

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	folder, err := os.MkdirTemp("", "sluice-cases-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	l := &lab{folder: folder, client: &http.Client{Timeout: time.Minute}}
	opened = sync.OnceValues(func() (*lab, error) { return l, l.start(context.Background()) })
	code := m.Run()
	if l.process == nil {
		return code
	}
	if err := l.process.Stop(20 * time.Second); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// settings make everything that happens on a schedule happen every second or so.
func settings() []string {
	return []string{
		"--sweep-interval", "1s", "--file-check-interval", "1s", "--writer-watch-interval", "1s",
		"--stalled-writer-floor", "3s", "--stalled-writer-factor", "3", "--token-expiry-warning", "1h",
		"--snapshot-rate-limit", "30", "--small-file-size", "4KiB", "--equality-delete-limit", "4", "--metadata-size-limit", "64KiB",
		"--audit-export-interval", "0",
	}
}

func (l *lab) start(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if l.binary, err = product.Build(ctx, l.folder); err != nil {
		return err
	}
	data := filepath.Join(l.folder, "data")
	if l.process, err = product.Serve(l.binary, data, filepath.Join(l.folder, "serve.log"), nil, settings()...); err != nil {
		return err
	}
	if _, err = l.process.Ready(ctx, data); err != nil {
		return err
	}
	if l.boot, err = product.ReadBootstrap(data); err != nil {
		return err
	}
	for _, prepare := range []struct{ method, url, body string }{
		{"PUT", l.boot.GovernanceURI + "/catalogs/main/default-write-policy", `{"policy":"open_full"}`},
		{"POST", l.boot.CatalogURI + "/v1/main/namespaces", `{"namespace":["cases"]}`},
	} {
		status, body, err := l.send(ctx, prepare.method, prepare.url, prepare.body)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%s: %d %s: %w", prepare.url, status, body, err)
		}
	}
	return nil
}

// send asks as root, unless header pairs say otherwise.
func (l *lab) send(ctx context.Context, method, address, body string, header ...string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+l.boot.Token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// bench is one test's view of the lab.
type bench struct {
	*lab
	t *testing.T
}

func newBench(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	l, err := opened()
	if err != nil && l.process != nil {
		t.Log(l.process.Tail(4000))
	}
	require.NoError(t, err)
	return &bench{lab: l, t: t}
}

func (b *bench) ask(method, address, body string, status int, header ...string) []byte {
	b.t.Helper()
	got, answer, err := b.send(b.t.Context(), method, address, body, header...)
	require.NoError(b.t, err)
	require.Equal(b.t, status, got, "%s %s: %s", method, address, answer)
	return answer
}

// governed asks the governance API, whose answer it gives with numbers as they are written.
func (b *bench) governed(method, path, body string, status int) map[string]any {
	b.t.Helper()
	return decoded(b.t, b.ask(method, b.boot.GovernanceURI+path, body, status))
}

func decoded(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	require.NoError(t, d.Decode(&v), "%s", data)
	return v
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// items gives a list of the governance API.
func (b *bench) items(path string, query ...string) []map[string]any {
	b.t.Helper()
	values := url.Values{"limit": {"1000"}}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	list, _ := b.governed("GET", path+"?"+values.Encode(), "", http.StatusOK)["items"].([]any)
	out := make([]map[string]any, len(list))
	for i := range list {
		out[i], _ = list[i].(map[string]any)
	}
	return out
}

func (b *bench) eventually(what string, holds func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		require.True(b.t, time.Now().Before(deadline), what)
	}
}

// command runs the program against the lab, as an operator does.
func (b *bench) command(args ...string) (out string, code int) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), b.binary, append(args, "--data", filepath.Join(b.folder, "data"))...)
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(b.t, err)
	}
	return string(said), cmd.ProcessState.ExitCode()
}

// at gives what is deep inside of an answer.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// in is the bench of a subtest, which runs beside others.
func (b *bench) in(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	return &bench{lab: b.lab, t: t}
}
