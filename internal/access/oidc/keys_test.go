package oidc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access/oidc"
	"github.com/sluice-data/sluice/internal/fault"
)

func down(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusBadGateway)
	return true
}

func TestAnIssuerIsAskedOnce(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	var all sync.WaitGroup
	for n := range 20 {
		token := i.token(t, c.now(), map[string]any{"jti": fmt.Sprint(n)})
		all.Go(func() {
			_, ours, err := issuers.Identify(context.Background(), token)
			if !ours || err != nil {
				t.Error(ours, err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, i.fetched("/keys"))
	require.Equal(t, 1, i.fetched("/.well-known/openid-configuration"))
}

func TestNewKeysAreFoundAtOnce(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	identify(t, issuers, i.token(t, c.now(), nil))
	c.pass(5 * time.Second)
	i.rotate(t, "second")
	identify(t, issuers, i.token(t, c.now(), nil))
	c.pass(5 * time.Second)
	i.rotate(t, "second") // another key of the same id
	identify(t, issuers, i.token(t, c.now(), nil))
	c.pass(5 * time.Second)
	i.rotate(t, "") // tokens need not name their key
	identify(t, issuers, i.token(t, c.now(), nil))
	require.Equal(t, 4, i.fetched("/keys"))
}

func TestUnknownKeysDoNotFloodTheIssuer(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	identify(t, issuers, i.token(t, c.now(), nil))
	for range 3 {
		c.pass(5 * time.Second)
		for n := range 50 {
			refuses(t, issuers, i.signed(t, newKey(t, fmt.Sprint("k", n)), "JWT", i.claims(c.now(), nil)), fault.Unauthenticated, "no key")
		}
	}
	require.Equal(t, 4, i.fetched("/keys"))
}

func TestWithdrawnKeysEndTheirTokens(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	token := i.token(t, c.now(), nil)
	identify(t, issuers, token)
	i.rotate(t, "second")
	c.pass(10*time.Minute - time.Second)
	identify(t, issuers, token)
	c.pass(time.Second)
	require.Eventually(t, func() bool { // the fetch is beside the requests
		_, _, err := issuers.Identify(context.Background(), token)
		return fault.Is(err, fault.Unauthenticated)
	}, 5*time.Second, 5*time.Millisecond)
	identify(t, issuers, i.token(t, c.now(), nil))
}

func TestAnIssuerThatIsDownAndBack(t *testing.T) {
	i, other, c := newIDP(t), newIDP(t), newClock()
	issuers := accepting(t, c, i.entry()+other.entry(), i, other)
	i.interfere(down)
	token := i.token(t, c.now(), nil)
	for range 10 {
		refuses(t, issuers, token, fault.Unavailable, i.server.URL)
		identify(t, issuers, other.token(t, c.now(), nil))
	}
	require.Equal(t, 1, i.fetched("/.well-known/openid-configuration"), "it is let alone for a while")
	i.interfere(nil)
	c.pass(5 * time.Second)
	identify(t, issuers, token)
}

func TestKeysOutliveTheirIssuerForADay(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	long := map[string]any{"exp": c.now().Add(48 * time.Hour).Unix()}
	token := i.token(t, c.now(), long)
	identify(t, issuers, token)
	i.interfere(down)
	c.pass(24*time.Hour - time.Second)
	identify(t, issuers, token)
	identify(t, issuers, i.token(t, c.now(), map[string]any{"sub": "bob"}))
	c.pass(6 * time.Second)
	refuses(t, issuers, token, fault.Unavailable, "no keys now")
	i.interfere(nil)
	c.pass(5 * time.Second)
	identify(t, issuers, token)
}

func TestASlowIssuerHoldsUpNoOther(t *testing.T) {
	slow, quick, c := newIDP(t), newIDP(t), newClock()
	issuers := accepting(t, c, slow.entry()+quick.entry(), slow, quick)
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	slow.interfere(func(_ http.ResponseWriter, _ *http.Request) bool {
		once.Do(func() { close(asked) })
		<-release
		return false
	})
	answered := make(chan error, 1)
	token := slow.token(t, c.now(), nil)
	go func() {
		_, _, err := issuers.Identify(context.Background(), token)
		answered <- err
	}()
	<-asked
	identify(t, issuers, quick.token(t, c.now(), nil))
	// A request that has no time left does not wait for it.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, _, err := issuers.Identify(ctx, token)
	require.True(t, fault.Is(err, fault.Unavailable), err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(release)
	require.NoError(t, <-answered)
}

func TestIssuersThatAnswerNonsense(t *testing.T) {
	for name, answer := range map[string]func(i *idp, w http.ResponseWriter, r *http.Request) bool{
		"another issuer's document": func(i *idp, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = fmt.Fprintf(w, `{"issuer":"https://login.example.com","jwks_uri":"%s/keys"}`, i.server.URL)
			return true
		},
		"keys in the clear": func(i *idp, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"http://login.example.com/keys"}`, i.server.URL)
			return true
		},
		"a redirect elsewhere": func(_ *idp, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "https://localhost:1/keys", http.StatusFound)
			return true
		},
		"no keys": func(_ *idp, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/keys" {
				_, _ = io.WriteString(w, `{"keys":[]}`)
			}
			return r.URL.Path == "/keys"
		},
		"no end": func(_ *idp, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/keys" {
				_, _ = io.WriteString(w, `{"keys":["`+strings.Repeat("x", 2<<20)+`"]}`)
			}
			return r.URL.Path == "/keys"
		},
		"a page": func(_ *idp, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, `<html>Sign in</html>`)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			i, c := newIDP(t), newClock()
			issuers := accepting(t, c, i.entry(), i)
			i.interfere(func(w http.ResponseWriter, r *http.Request) bool { return answer(i, w, r) })
			refuses(t, issuers, i.token(t, c.now(), nil), fault.Unavailable, "no keys now")
		})
	}
}

// Operators see why; an issuer cannot fill their logs.
func TestWhatFailsIsLoggedInBrief(t *testing.T) {
	i, c := newIDP(t), newClock()
	cfg, err := oidc.Load(write(t, i.entry(), i))
	require.NoError(t, err)
	var log bytes.Buffer
	issuers := oidc.New(cfg, slog.New(slog.NewTextHandler(&log, nil)), c.now)
	i.interfere(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "maintenance "+strings.Repeat("x", 100<<10), http.StatusServiceUnavailable)
		return true
	})
	for range 5 {
		refuses(t, issuers, i.token(t, c.now(), nil), fault.Unavailable, "no keys now")
	}
	require.Contains(t, log.String(), "503 Service Unavailable: maintenance")
	require.Contains(t, log.String(), i.server.URL)
	require.Less(t, log.Len(), 1000)
}

func TestARedirectOnTheSameHostIsFollowed(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry("jwks-url: "+i.server.URL+"/old"), i)
	i.interfere(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/keys", http.StatusMovedPermanently)
		}
		return r.URL.Path == "/old"
	})
	identify(t, issuers, i.token(t, c.now(), nil))
}

func TestAnUnknownAuthorityIsNotTrusted(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, "- {issuer: "+i.server.URL+", audiences: sluice}\n", i)
	refuses(t, issuers, i.token(t, c.now(), nil), fault.Unavailable, "no keys now")
}

func TestKeysFromAPlaceThatIsConfigured(t *testing.T) {
	i, c := newIDP(t), newClock()
	const url = "https://kubernetes.default.svc.cluster.local"
	issuers := accepting(t, c, "- {issuer: '"+url+"', audiences: sluice, ca-file: ca.pem, jwks-url: '"+i.server.URL+"/keys'}\n", i)
	who := identify(t, issuers, i.token(t, c.now(), map[string]any{"iss": url}))
	require.Equal(t, url, who.Issuer)
	require.Zero(t, i.fetched("/.well-known/openid-configuration"))
}

// A cluster's API server gives its keys to those alone who have a token of it, and replaces the file with it. It answers
// 406 to who asks for JSON and no key set.
func TestDiscoveryWithAToken(t *testing.T) {
	i, c := newIDP(t), newClock()
	var valid atomic.Value
	valid.Store("one")
	i.interfere(func(w http.ResponseWriter, r *http.Request) bool {
		if accept := r.Header.Get("Accept"); accept != "" && !strings.Contains(accept, "*/*") {
			w.WriteHeader(http.StatusNotAcceptable)
			return true
		}
		if r.Header.Get("Authorization") == "Bearer "+valid.Load().(string) {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	file := write(t, i.entry("discovery-token-file: token"), i)
	secret := filepath.Join(filepath.Dir(file), "token")
	require.NoError(t, os.WriteFile(secret, []byte("one\n"), 0o600))
	cfg, err := oidc.Load(file)
	require.NoError(t, err)
	issuers := oidc.New(cfg, slog.New(slog.DiscardHandler), c.now)
	identify(t, issuers, i.token(t, c.now(), nil))
	require.NoError(t, os.WriteFile(secret, []byte("two"), 0o600))
	valid.Store("two")
	i.rotate(t, "second")
	c.pass(5 * time.Second)
	identify(t, issuers, i.token(t, c.now(), nil))
}
