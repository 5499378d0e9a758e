package oidc

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// mostDocument bounds what is read of a discovery document or a set of keys, in bytes.
const mostDocument = 1 << 20

// fetcher asks one issuer for its keys.
type fetcher struct {
	issuer  string
	keysURL string // "" for where the discovery document says
	client  *http.Client
}

func newFetcher(i issuer) *fetcher {
	return &fetcher{issuer: i.url, keysURL: i.keysURL, client: &http.Client{
		Transport: &asking{tokenFile: i.tokenFile, next: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSClientConfig:     &tls.Config{RootCAs: i.authority, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 1,
			IdleConnTimeout:     time.Minute,
		}},
		CheckRedirect: stayOnHost,
	}}
}

// keys reads the discovery document, where its place is not configured, and the keys it leads to.
func (f *fetcher) keys(ctx context.Context) (*keySet, error) {
	from := f.keysURL
	if from == "" {
		provider, err := oidc.NewProvider(oidc.ClientContext(ctx, f.client), f.issuer)
		if err != nil {
			// The error has the whole answer in it, which may be somebody's page.
			return nil, fmt.Errorf("the discovery document: %.300s", err.Error())
		}
		var document struct {
			KeysURL string `json:"jwks_uri"`
		}
		if err := provider.Claims(&document); err != nil {
			return nil, fmt.Errorf("the discovery document: %w", err)
		}
		if from = document.KeysURL; checkLocation(from) != "" {
			return nil, fmt.Errorf("the discovery document: its jwks_uri %q %s", from, checkLocation(from))
		}
	}
	set, err := f.keysAt(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("the keys at %s: %w", from, err)
	}
	return set, nil
}

func (f *fetcher) keysAt(ctx context.Context, url string) (*keySet, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := f.client.Do(request) //nolint:gosec // the operator, or the issuer it trusts, names the address
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", answer.Status)
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		return nil, err
	}
	return newKeySet(document.Keys)
}

// stayOnHost follows a redirect only to the same host by the same scheme: another host is not who is trusted.
func stayOnHost(to *http.Request, via []*http.Request) error {
	const most = 3
	from := via[0].URL
	if len(via) > most || to.URL.Host != from.Host || to.URL.Scheme != from.Scheme {
		return errors.New("it redirects to another host, or too often")
	}
	return nil
}

// asking adds the bearer token where one is configured, and bounds answers.
type asking struct {
	tokenFile string
	next      http.RoundTripper
}

// RoundTrip reads the token file anew for every request: such tokens are short-lived, and their files replaced.
func (a *asking) RoundTrip(request *http.Request) (*http.Response, error) {
	if a.tokenFile != "" {
		request = request.Clone(request.Context())
		token, err := os.ReadFile(a.tokenFile)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	answer, err := a.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	answer.Body = bounded{io.LimitReader(answer.Body, mostDocument), answer.Body}
	return answer, nil
}

type bounded struct {
	io.Reader
	io.Closer
}
