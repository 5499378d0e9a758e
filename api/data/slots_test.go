package data_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/dataplane"
)

// begun sends the beginning of a request and leaves it at that.
func (s *site) begun(head, body string) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(s.t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	_, err = fmt.Fprintf(conn, "POST %s\r\nHost: x\r\nAuthorization: Bearer root\r\n\r\n%s", head, body)
	require.NoError(s.t, err)
	return conn
}

// Reads that last take no place of other requests, and no more than their own.
func TestSlowReadersKeepNobodyElseWaiting(t *testing.T) {
	s := newSite(t, change{api: func(d *api.Deps) { d.Limits.InFlight, d.Limits.DataInFlight = 1, 1 }})
	s.fill(150_000) // more than sockets hold
	conn := s.begun(query+" HTTP/1.1\r\nAccept: "+ndjson+"\r\nContent-Length: 2", "{}")
	head, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, head, "200")

	other, err := http.Get(s.url + "/nowhere") //nolint:noctx // of the server beside it
	require.NoError(t, err)
	other.Body.Close()
	assert.Equal(t, 404, other.StatusCode, "it is served")
	r := s.query(`{"limit":1}`)
	r.message(t, 503, "SlowDownException")
	assert.NotEmpty(t, r.Header.Get("Retry-After"))

	waiting := make(chan int, 1)
	go func() { waiting <- s.query(`{"limit":1}`).StatusCode }()
	time.Sleep(100 * time.Millisecond)
	conn.Close()
	assert.Equal(t, 200, <-waiting, "a place that becomes free is taken")
}

// A sender that stalls loses its turn, and nothing of what it sent lands.
func TestAStalledWriterIsCutOff(t *testing.T) {
	s := newSite(t, change{
		data: func(d *dataplane.Deps) { d.Limits.Concurrency = 1 },
		pace: api.Pace{Known: time.Second, Stall: time.Second},
	})
	s.begun(write+" HTTP/1.1\r\nContent-Type: "+ndjson+"\r\nContent-Length: 100000", "{\"id\":\"1\"}\n")
	for _, status := range []int{429, 200} {
		require.Eventually(t, func() bool { return s.query(`{}`).StatusCode == status }, 20*time.Second, 20*time.Millisecond, "%d", status)
	}
	assert.Empty(t, s.query(`{}`).json(t)["rows"])
}
