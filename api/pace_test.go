package api_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// pacedSite is the router behind a real server with a pace, and the address of that.
func pacedSite(t *testing.T, pace api.Pace, change ...func(*api.Deps)) (*useCases, string) {
	t.Helper()
	u := newUseCases()
	d := deps(u, io.Discard)
	for _, f := range change {
		f(&d)
	}
	return u, serving(t, api.Paced(api.Router(d), pace))
}

func serving(t *testing.T, h http.Handler) (address string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// ended waits until the server has answered everything and closed the connection, and gives what it said.
func ended(t *testing.T, conn net.Conn, within time.Duration) string {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(within)))
	said, err := io.ReadAll(conn)
	if ne, ok := errors.AsType[net.Error](err); ok {
		require.False(t, ne.Timeout(), "the connection is still open: %s", said)
	}
	return string(said)
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestTricklingBodiesAreCutOff(t *testing.T) {
	_, address := pacedSite(t, api.Pace{Stranger: 200 * time.Millisecond, Known: 600 * time.Millisecond})
	for name, c := range map[string]struct {
		head        string
		least, most time.Duration
		want        string
	}{
		"token endpoint": {
			"POST /api/catalog/v1/oauth/tokens HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n", 0, 5 * time.Second, "came too slowly",
		},
		"no token":      {"POST " + iceberg + "/namespaces HTTP/1.1\r\n", 0, 5 * time.Second, "401"},
		"no such route": {"POST /nowhere HTTP/1.1\r\n", 0, 5 * time.Second, "404"},
		"a known one":   {"POST " + iceberg + "/namespaces HTTP/1.1\r\nAuthorization: Bearer good\r\n", 500 * time.Millisecond, 5 * time.Second, "came too slowly"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, address)
			start := time.Now()
			fmt.Fprintf(conn, "%sHost: x\r\nContent-Length: 100000\r\n\r\n", c.head)
			stop := trickle(conn)
			said := ended(t, conn, c.most)
			stop()
			require.Contains(t, said, c.want)
			require.GreaterOrEqual(t, time.Since(start), c.least)
		})
	}
}

// trickle sends a byte now and then until its stop is called or the connection ends.
func trickle(conn net.Conn) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if _, err := conn.Write([]byte("a")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }
}

func TestLongHonestUploadsLive(t *testing.T) {
	u, address := pacedSite(t, api.Pace{Known: 300 * time.Millisecond, Slowest: 64 << 10}, func(d *api.Deps) {
		d.Limits.RequestTimeout = 500 * time.Millisecond // of the work, which begins when the body is here
	})
	parts := [][]byte{[]byte(`{"namespace":["long"],"properties":{"k":"`)}
	for range 12 {
		parts = append(parts, bytes.Repeat([]byte("x"), 32<<10))
	}
	parts = append(parts, []byte(`"}}`))
	body, feed := io.Pipe()
	go func() {
		for _, part := range parts {
			_, _ = feed.Write(part)
			time.Sleep(80 * time.Millisecond)
		}
		_ = feed.Close()
	}()
	r, err := http.NewRequest("POST", "http://"+address+iceberg+"/namespaces", body)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer good")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, 200, answer.StatusCode)
	require.Equal(t, []string{"long"}, u.levels)
}

// patient is a use case that takes longer than any pace, and hears of it when its request ends.
type patient struct {
	*useCases
	takes time.Duration
}

func (p patient) CreateNamespace(ctx context.Context, c policy.Caller, cat models.Catalog, in core.NamespaceInput) (core.NamespaceView, error) {
	select {
	case <-ctx.Done():
		return core.NamespaceView{}, ctx.Err()
	case <-time.After(p.takes):
	}
	return p.useCases.CreateNamespace(ctx, c, cat, in)
}

func TestTheServersOwnTimeIsNotTheClients(t *testing.T) {
	_, address := pacedSite(t, api.Pace{Stranger: 150 * time.Millisecond, Known: 150 * time.Millisecond, Write: 150 * time.Millisecond}, func(d *api.Deps) {
		d.Catalog.Namespaces = patient{newUseCases(), 600 * time.Millisecond}
	})
	for range 2 { // the second on the same connection
		r, err := http.NewRequest("POST", "http://"+address+iceberg+"/namespaces", strings.NewReader(`{"namespace":["a"]}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer good")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, answer.Body)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 200, answer.StatusCode)
	}
}

func largeAnswer(u *useCases, t *testing.T) {
	u.addTable(t, models.TableIdent{Namespace: []string{"a"}, Name: "t"}, "s3://b/m.json", document(40_000)) // 13 MB
}

const largePath = iceberg + "/namespaces/a/tables/t"

func TestReadersThatStopAreCutOff(t *testing.T) {
	u, done := newUseCases(), make(chan struct{})
	paced := api.Paced(api.Router(deps(u, io.Discard)), api.Pace{Write: 200 * time.Millisecond})
	address := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paced.ServeHTTP(w, r)
		close(done)
	}))
	largeAnswer(u, t)
	conn := dial(t, address)
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n", largePath)
	select { // it reads nothing
	case <-done:
	case <-time.After(20 * time.Second):
		require.Fail(t, "the request is still being answered")
	}
}

func TestSlowReadersThatGoOnLive(t *testing.T) {
	u, address := pacedSite(t, api.Pace{Write: time.Second})
	largeAnswer(u, t)
	conn := dial(t, address)
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n", largePath)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	start, total := time.Now(), int64(0)
	for {
		n, err := io.CopyN(io.Discard, answer.Body, 1<<20)
		total += n
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "after %d bytes and %s", total, time.Since(start))
		time.Sleep(150 * time.Millisecond)
	}
	require.Equal(t, answer.ContentLength, total)
	require.Greater(t, time.Since(start), time.Second, "it took longer than any part may")
}

func TestABodyThatStallsIsCutOffHoweverFastItWasBefore(t *testing.T) {
	_, address := pacedSite(t, api.Pace{Known: 100 * time.Millisecond, Stall: 300 * time.Millisecond, Slowest: 1 << 10})
	conn := dial(t, address)
	fmt.Fprintf(conn, "POST %s/namespaces HTTP/1.1\r\nAuthorization: Bearer good\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", iceberg)
	_, err := conn.Write(bytes.Repeat([]byte(" "), 60<<10)) // a minute's worth
	require.NoError(t, err)
	require.Contains(t, ended(t, conn, 10*time.Second), "came too slowly")
}
