package gcs

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/objectstest"
)

// findServer gives the program of fake-gcs-server, which e2e/storage/install.sh installs.
func findServer(t *testing.T) string {
	t.Helper()
	for _, path := range []string{os.Getenv("SLUICE_TEST_FAKE_GCS"), "../../../e2e/storage/.tools/bin/fake-gcs-server"} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			path, err = filepath.Abs(path)
			require.NoError(t, err)
			return path
		}
	}
	path, err := exec.LookPath("fake-gcs-server")
	if err != nil {
		t.Skip("fake-gcs-server is not installed: run e2e/storage/install.sh, or set SLUICE_TEST_FAKE_GCS to it")
	}
	return path
}

// startServer runs the server with the buckets until the test ends and gives its endpoint.
func startServer(t *testing.T, buckets ...string) string {
	t.Helper()
	program := findServer(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", port,
		"-public-host", address, "-external-url", "http://"+address, "-log-level", "error")
	cmd.Dir = t.TempDir()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	endpoint := "http://" + address
	require.Eventually(t, func() bool {
		resp, err := http.Get(endpoint + "/storage/v1/b")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
	for _, bucket := range buckets {
		resp, err := http.Post(endpoint+"/storage/v1/b", "application/json", strings.NewReader(`{"name":"`+bucket+`"}`))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, string(body))
	}
	return endpoint
}

func TestStoreOnAServer(t *testing.T) {
	endpoint := startServer(t, "lake")
	root := parse(t, "gs://lake/wh")
	s, err := New(t.Context(), Config{Endpoint: endpoint, Anonymous: true}, root)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	objectstest.Run(t, func(*testing.T) (objects.Store, string) { return s, root.String() + "/" + uuid.NewString() })
}

func parse(t testing.TB, s string) objects.Location {
	t.Helper()
	loc, err := objects.Parse(s)
	require.NoError(t, err)
	return loc
}
