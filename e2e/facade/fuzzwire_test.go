package facade

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// shot is a request before it is written. What a mutation does not touch is as the operation's builder made it.
type shot struct {
	op     string // as the config answer spells it, "" once a mutation may have led elsewhere
	method string
	mount  string
	prefix string            // what stands for /{prefix}: the catalog, or nothing
	params map[string]string // path parameters, decoded
	query  [][2]string       // decoded
	header [][2]string
	body   any    // a JSON tree; nil: no body
	raw    []byte // the body as sent, when it is no JSON tree or no longer one
	form   url.Values

	target  string // the whole request target, when a mutation broke it
	lie     int    // how many bytes more the Content-Length says than are sent
	chunked bool
	mutated []string // which mutations were done
	owed    bool     // nothing stands against it: it must succeed
}

func (s *shot) set(name, value string) { s.header = append(s.header, [2]string{name, value}) }

// path gives the request target.
func (s *shot) path() string {
	if s.target != "" {
		return s.target
	}
	_, template, _ := strings.Cut(s.op, " ")
	path := s.mount + strings.Replace(template, "/{prefix}", s.prefix, 1)
	for name, value := range s.params {
		path = strings.ReplaceAll(path, "{"+name+"}", escape(value))
	}
	var query []string
	for _, pair := range s.query {
		query = append(query, url.QueryEscape(pair[0])+"="+url.QueryEscape(pair[1]))
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// reachesToken tells whether the request is one to the token endpoint, whatever else is wrong with it.
func (s *shot) reachesToken() bool {
	path, _, _ := strings.Cut(s.path(), "?")
	return s.method == "POST" && (path == "/api/catalog/v1/oauth/tokens" || path == "/api/table/iceberg/v1/oauth/tokens")
}

func escape(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

// payload gives the body's bytes.
func (s *shot) payload() []byte {
	switch {
	case s.raw != nil:
		return s.raw
	case s.form != nil:
		return []byte(s.form.Encode())
	case s.body != nil:
		raw, err := json.Marshal(s.body)
		if err != nil {
			panic(err) // trees are of maps, lists, strings and numbers
		}
		return raw
	}
	return nil
}

// bytes writes the request as HTTP/1.1.
func (s *shot) bytes(host, token string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", s.method, s.path(), host)
	names := make([]string, 0, len(s.header))
	for _, pair := range s.header {
		names = append(names, strings.ToLower(pair[0]))
		fmt.Fprintf(&b, "%s: %s\r\n", pair[0], pair[1])
	}
	if !slices.Contains(names, "authorization") {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	payload := s.payload()
	if payload == nil && s.lie == 0 {
		b.WriteString("\r\n")
		return b.Bytes()
	}
	if !slices.Contains(names, "content-type") {
		kind := "application/json"
		if s.form != nil {
			kind = "application/x-www-form-urlencoded"
		}
		fmt.Fprintf(&b, "Content-Type: %s\r\n", kind)
	}
	if s.chunked {
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(payload), payload)
		return b.Bytes()
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", max(0, len(payload)+s.lie))
	b.Write(payload)
	return b.Bytes()
}

// describe tells of a request for a failure message.
func (s *shot) describe(written []byte) string {
	text := strings.ToValidUTF8(string(written), "\ufffd")
	if at := strings.Index(text, "Authorization: Bearer "); at >= 0 {
		text = text[:at] + "…" + text[strings.Index(text[at:], "\r\n")+at:]
	}
	if len(text) > 1200 {
		text = text[:1200] + "…"
	}
	return fmt.Sprintf("mutations %v\n%q", s.mutated, text)
}

// line is one connection at a time to the server, so that a run is one sequence of requests.
type line struct {
	address string
	conn    *net.TCPConn
	in      *bufio.Reader
}

func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// exchange writes a request and reads its answer. lie is what its Content-Length says too
// much; one that is not 0 ends the connection.
func (l *line) exchange(method string, request []byte, lie int) (*http.Response, []byte, error) {
	if l.conn == nil {
		conn, err := net.Dial("tcp", l.address)
		if err != nil {
			return nil, nil, err
		}
		l.conn, l.in = conn.(*net.TCPConn), bufio.NewReader(conn)
	}
	_ = l.conn.SetDeadline(time.Now().Add(30 * time.Second))
	_, writeErr := l.conn.Write(request) // the server may answer and hang up before the whole of it is written
	if lie > 0 {
		_ = l.conn.CloseWrite()
	}
	answer, body, err := l.read(method)
	if err != nil || lie != 0 || writeErr != nil || answer.Close {
		l.close()
	}
	return answer, body, err
}

func (l *line) read(method string) (*http.Response, []byte, error) {
	answer, err := http.ReadResponse(l.in, &http.Request{Method: method})
	for err == nil && answer.StatusCode == http.StatusContinue {
		answer, err = http.ReadResponse(l.in, &http.Request{Method: method})
	}
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	var body io.Reader = answer.Body
	if answer.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(answer.Body); err != nil {
			return nil, nil, err
		}
	}
	raw, err := io.ReadAll(body)
	return answer, raw, err
}
