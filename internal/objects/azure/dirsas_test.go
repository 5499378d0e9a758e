package azure

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// directories adds to Azurite what it lacks: the SAS of a directory (sr=d), by Microsoft's description of it. It verifies
// the signature over the first sdd segments of what is asked for, and passes the request on with a SAS of the container that
// has the same permissions, times and protocol: those Azurite enforces itself. Requests with another SAS go through as they are.
type directories struct {
	azurite azurite
	mu      sync.Mutex
	keys    map[string]string // user delegation keys by their start and end; they are taken from Azurite's answers
}

// serveDirectories gives the URL of the account's Blob service, as engines see it.
func serveDirectories(t *testing.T, a azurite) (*directories, string) {
	t.Helper()
	target, err := url.Parse(a.endpoint())
	require.NoError(t, err)
	d := &directories{azurite: a, keys: map[string]string{}}
	proxy := &httputil.ReverseProxy{
		Transport: a.transport(),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, target.Host
			r.Out.URL.RawQuery = d.passOn(r.In.URL)
			if a.secure { // the account is the host's, not a part of the path
				r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/"+testAccount)
				r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.RawPath, "/"+testAccount)
			}
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("sr") == "d" && d.passOn(r.URL) == "" {
			w.Header().Set("x-ms-error-code", "AuthorizationFailure")
			w.WriteHeader(http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return d, server.URL + "/" + testAccount
}

// passOn gives the query to pass on, "" for a directory's SAS that is not one of what is asked for.
func (d *directories) passOn(u *url.URL) string {
	q := u.Query()
	if q.Get("sr") != "d" {
		return u.RawQuery
	}
	container, path, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"+testAccount+"/"), "/")
	if q.Get("comp") == "list" && q.Get("restype") == "container" {
		path = q.Get("prefix")
	}
	depth, err := strconv.Atoi(q.Get("sdd"))
	segments := strings.Split(path, "/")
	if err != nil || depth < 1 || len(segments) <= depth { // what is asked for lies below the directory
		return ""
	}
	resource := "/blob/" + testAccount + "/" + container
	if q.Get("sig") != d.sign(q, resource+"/"+strings.Join(segments[:depth], "/"), "d") {
		return ""
	}
	q.Set("sr", "c")
	q.Del("sdd")
	q.Set("sig", d.sign(q, resource, "c"))
	return q.Encode()
}

// sign computes a signature. The order of fields is that of Microsoft's documentation for sv 2026-04-06 and later.
func (d *directories) sign(q url.Values, resource, kind string) string {
	key := d.azurite.key
	fields := []string{q.Get("sp"), q.Get("st"), q.Get("se"), resource}
	if q.Has("skoid") {
		d.mu.Lock()
		key = d.keys[q.Get("skt")+q.Get("ske")]
		d.mu.Unlock()
		fields = append(fields, q.Get("skoid"), q.Get("sktid"), q.Get("skt"), q.Get("ske"), q.Get("sks"), q.Get("skv"),
			q.Get("saoid"), q.Get("suoid"), q.Get("scid"), q.Get("skdutid"), q.Get("sduoid"), q.Get("sip"), q.Get("spr"), q.Get("sv"), kind,
			"", q.Get("ses"), "", "", "", "", "", "", "")
	} else {
		fields = append(fields, q.Get("si"), q.Get("sip"), q.Get("spr"), q.Get("sv"), kind, "", q.Get("ses"), "", "", "", "", "")
	}
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(secret) == 0 {
		return "no key"
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.Join(fields, "\n")))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// learn wraps a transport and takes the delegation keys out of what it brings.
func (d *directories) learn(t *testing.T, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil || r.URL.Query().Get("comp") != "userdelegationkey" {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		assert.NoError(t, err)
		resp.Body = io.NopCloser(strings.NewReader(string(body)))
		var key struct{ SignedStart, SignedExpiry, Value string }
		assert.NoError(t, xml.Unmarshal(body, &key), string(body))
		d.mu.Lock()
		defer d.mu.Unlock()
		d.keys[key.SignedStart+key.SignedExpiry] = key.Value
		return resp, nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
