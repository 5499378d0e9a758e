package api_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
)

// What the server itself cannot read never reaches a handler, and is answered as every other error all the same.
func TestWhatIsNotHTTPGetsTheErrorModel(t *testing.T) {
	server := httptest.NewUnstartedServer(api.Router(deps(newUseCases(), io.Discard)))
	server.Listener = api.ProtocolErrors(server.Listener)
	server.Start()
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		request string
		status  int
		kind    string
		says    string
	}{
		"broken percent-encoding": {"GET /api/catalog/v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "BadRequestException", "percent-encoding"},
		"NUL in a header":         {"GET / HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n\r\n", 400, "BadRequestException", "header"},
		"no host":                 {"GET / HTTP/1.1\r\n\r\n", 400, "BadRequestException", "missing required Host header"},
		"no HTTP":                 {"hello\r\n\r\n", 400, "BadRequestException", "not valid HTTP"},
		"huge headers":            {"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", 431, "RequestHeadersTooLargeException", "shorter"},
		"transfer encoding":       {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: brotli\r\n\r\n", 501, "UnsupportedOperationException", "chunked"},
		"another version":         {"GET / HTTP/4.0\r\nHost: x\r\n\r\n", 505, "BadRequestException", "unsupported protocol version"},
		"an ordinary request":     {"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "NoSuchRouteException", "no such route"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, server.Listener.Addr().String())
			go func() { _, _ = io.WriteString(conn, c.request) }()
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			kind, message := reply{answer, body}.failure(t)
			require.Equal(t, c.status, answer.StatusCode)
			require.Equal(t, c.kind, kind)
			require.Contains(t, message, c.says)
		})
	}
}
