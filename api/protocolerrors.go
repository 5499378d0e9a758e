package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// ProtocolErrors gives a listener whose net/http server answers what it cannot read as a request in the shape of every
// other error. The server writes those answers, in plain text, past all handlers.
func ProtocolErrors(l net.Listener) net.Listener { return protocolListener{l} }

type protocolListener struct{ net.Listener }

// Accept implements net.Listener.
func (l protocolListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return protocolConn{conn}, nil
}

type protocolConn struct{ net.Conn }

// CloseWrite lets the server end its side and the client read the answer before the connection is gone.
func (c protocolConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// plainHead is what net/http ends the head of such an answer with; no handler of ours has these headers alone.
const plainHead = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

func (c protocolConn) Write(p []byte) (int, error) {
	const protocol, statusLine = "HTTP/1.1 ", 256
	end := bytes.Index(p[:min(len(p), statusLine)], []byte("\r\n"))
	if end < 0 || !bytes.HasPrefix(p, []byte(protocol)) || !bytes.HasPrefix(p[end:], []byte(plainHead)) {
		return c.Conn.Write(p)
	}
	code, text, _ := strings.Cut(string(p[len(protocol):end]), " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(protocolAnswer(status, text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// protocolAnswer is the whole answer; text is the server's, such as "Bad Request: missing required Host header".
func protocolAnswer(status int, text string) []byte {
	kind, message := "BadRequestException", "The request is not valid HTTP. Look at the percent-encoding of its URL, at its headers and at what stands between."
	switch _, detail, _ := strings.Cut(text, ": "); {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		kind, message = "RequestHeadersTooLargeException", "The headers are larger than the server reads. Send fewer or shorter ones."
	case status == http.StatusNotImplemented:
		kind, message = "UnsupportedOperationException", "This Transfer-Encoding is not supported. Send the body chunked or with its Content-Length."
	case status != http.StatusBadRequest:
		message = "The request cannot be served: " + text + "."
	case detail != "":
		message = "The request is not valid HTTP: " + detail + "."
	}
	// An errorBody is always encodable.
	body, _ := json.Marshal(errorBody{Error: errorModel{Message: message, Type: kind, Code: status}})
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		status, http.StatusText(status), len(body)+1)
	return append(append([]byte(head), body...), '\n')
}
