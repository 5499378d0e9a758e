package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access/oidc"
)

// idp is an issuer: it serves its discovery document and its keys over TLS, and signs tokens.
type idp struct {
	server *httptest.Server
	signer jose.JSONWebKey // private

	mu        sync.Mutex
	published []any                                         // what its key set lists
	answer    func(http.ResponseWriter, *http.Request) bool // goes before the documents where it tells true
	fetches   map[string]int                                // by path
}

func newIDP(t testing.TB) *idp {
	t.Helper()
	i := &idp{fetches: map[string]int{}}
	i.server = httptest.NewTLSServer(i)
	t.Cleanup(i.server.Close)
	i.rotate(t, "first")
	return i
}

func (i *idp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.fetches[r.URL.Path]++
	answer, published := i.answer, i.published
	i.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.server.URL, "jwks_uri": i.server.URL + "/keys"})
	case "/keys":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": published})
	default:
		http.NotFound(w, r)
	}
}

// interfere has requests answered otherwise; nil ends it.
func (i *idp) interfere(answer func(http.ResponseWriter, *http.Request) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

// rotate signs with a new key of the id from now on, and publishes it alone.
func (i *idp) rotate(t testing.TB, id string) {
	t.Helper()
	i.signer = newKey(t, id)
	i.publish(i.signer.Public())
}

func (i *idp) publish(keys ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.published = keys
}

func (i *idp) fetched(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches[path]
}

// entry is the issuer's part of a file; more are settings, a line each.
func (i *idp) entry(more ...string) string {
	lines := append([]string{"audiences: [sluice]", "ca-file: ca.pem"}, more...)
	return "- issuer: " + i.server.URL + "\n  " + strings.Join(lines, "\n  ") + "\n"
}

// token gives a good token for ann, with the claims changed; nil removes one.
func (i *idp) token(t testing.TB, now time.Time, changed map[string]any) string {
	t.Helper()
	return i.signed(t, i.signer, "at+jwt", i.claims(now, changed))
}

func (i *idp) claims(now time.Time, changed map[string]any) map[string]any {
	claims := map[string]any{
		"iss": i.server.URL, "aud": "sluice", "sub": "ann", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	for name, value := range changed {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

func (i *idp) signed(t testing.TB, key jose.JSONWebKey, typ string, claims any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	require.NoError(t, err)
	return sign(t, key, typ, payload)
}

func sign(t testing.TB, key jose.JSONWebKey, typ string, payload []byte) string {
	t.Helper()
	options := &jose.SignerOptions{}
	if typ != "" {
		options.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key}, options)
	require.NoError(t, err)
	signed, err := signer.Sign(payload)
	require.NoError(t, err)
	token, err := signed.CompactSerialize()
	require.NoError(t, err)
	return token
}

func newKey(t testing.TB, id string) jose.JSONWebKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: "ES256", Use: "sig"}
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Now().Truncate(time.Second)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// write makes the file of issuers, with the authority of the issuers beside it, and gives its path.
func write(t testing.TB, entries string, idps ...*idp) string {
	t.Helper()
	dir := t.TempDir()
	var authorities []byte
	for _, i := range idps {
		authorities = append(authorities, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.server.Certificate().Raw})...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.pem"), authorities, 0o600))
	file := filepath.Join(dir, "issuers.yaml")
	require.NoError(t, os.WriteFile(file, []byte("issuers:\n"+entries), 0o600))
	return file
}

// accepting makes an Issuers from the entries of a file.
func accepting(t testing.TB, c *clock, entries string, idps ...*idp) *oidc.Issuers {
	t.Helper()
	cfg, err := oidc.Load(write(t, entries, idps...))
	require.NoError(t, err)
	return oidc.New(cfg, slog.New(slog.DiscardHandler), c.now)
}
