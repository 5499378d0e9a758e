package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// sendWithin bounds one request, with its answer.
	sendWithin = 10 * time.Second
	// answerRead is how much of an answer's body is read, in bytes, and answerKept how much of it is kept, in characters.
	answerRead = 4 << 10
	answerKept = 500
	// mostRetryAfter bounds how long a receiver may ask to be left alone.
	mostRetryAfter = time.Hour
)

// Sender makes requests to webhooks. It takes no proxy from the environment, follows no redirect, and connects to no address
// that is not public unless private ones are allowed. It is safe for concurrent use.
type Sender struct {
	private bool
	client  *http.Client
	now     func() time.Time
}

// SenderOptions say where a Sender may send to.
type SenderOptions struct {
	Private  bool          // private networks and plain http too
	Resolver *net.Resolver // nil: the system's
	Now      func() time.Time
}

// NewSender makes a Sender.
func NewSender(o SenderOptions) *Sender {
	s := &Sender{private: o.Private, now: o.Now}
	dialer := &net.Dialer{Timeout: sendWithin / 2, ControlContext: s.control, Resolver: o.Resolver}
	s.client = &http.Client{
		Timeout: sendWithin,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: sendWithin / 2,
			MaxIdleConns: 64, MaxIdleConnsPerHost: parallel, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// Close ends idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// control runs when the name is resolved and the connection is not made yet: a name that resolves to something else than
// a moment ago is judged by what is connected to.
func (s *Sender) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	if s.private {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fault.New(fault.Invalid, "The address %q is none.", address)
	}
	return refused(at.Addr())
}

// answer is how an attempt went.
type answer struct {
	status     int           // 0: there was none
	problem    string        // why it did not reach the receiver, or what that said; "" for success
	retryAfter time.Duration // what the receiver asks for, 0 for nothing
	body       string        // the start of it, on one line
	took       time.Duration
}

func (a answer) ok() bool { return a.status >= 200 && a.status <= 299 }

// down tells whether other deliveries would go the same way, as far as can be told.
func (a answer) down() bool {
	return a.status == 0 || a.status >= 500 || a.status == http.StatusTooManyRequests || a.status == http.StatusRequestTimeout
}

// send makes one signed request.
func (s *Sender) send(ctx context.Context, target, id string, secret, body []byte) answer {
	began := s.now()
	if err := checkURL(target, s.private); err != nil { // the setting may have changed since it was stored
		return answer{problem: fault.PublicMessage(err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return answer{problem: "The address cannot be used."}
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", "Sluice-Webhooks/1")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(began.Unix(), 10))
	req.Header.Set("webhook-signature", Sign(secret, id, began, body))
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{problem: problemOf(err), took: s.now().Sub(began)}
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, answerRead)) // of a body that breaks off the status is enough
	out := answer{status: resp.StatusCode, body: line(string(text)), took: s.now().Sub(began)}
	if !out.ok() {
		out.problem = strings.TrimSuffix(statusText(resp.StatusCode)+": "+out.body, ": ")
		out.retryAfter = s.retryAfter(resp.Header.Get("Retry-After"))
	}
	return out
}

func statusText(status int) string {
	text := "answered " + strconv.Itoa(status)
	if name := http.StatusText(status); name != "" {
		text += " " + name
	}
	if status >= 300 && status <= 399 {
		text += ", and redirects are not followed"
	}
	return text
}

// problemOf says why there was no answer, without the address, which may hold a secret.
func problemOf(err error) string {
	if own, ok := errors.AsType[*fault.Error](err); ok {
		return own.Message
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "no answer within " + sendWithin.String()
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return line(err.Error())
}

// line gives the start of a text from outside, without what could disturb a terminal or a page.
func line(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	clean = strings.Join(strings.Fields(clean), " ")
	if runes := []rune(clean); len(runes) > answerKept {
		return string(runes[:answerKept])
	}
	return clean
}

// retryAfter reads the header of that name: seconds, or a date.
func (s *Sender) retryAfter(header string) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(s.now())
	}
	return min(max(wait, 0), mostRetryAfter)
}
