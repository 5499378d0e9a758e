package gcs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/impersonate"
	"google.golang.org/api/option"

	"github.com/sluice-data/sluice/internal/objects"
)

const (
	// scope of tokens. A boundary narrows it, and so do the roles of the account.
	scope = "https://www.googleapis.com/auth/cloud-platform"
)

// errSignIn is in the chain of errors of getting a token.
var errSignIn = errors.New("gcs: no access token")

// tokens gives access tokens that live on for at least early. It looks for the machine's own identity when a token is
// wanted, not before.
type tokens struct {
	find  func(ctx context.Context) (oauth2.TokenSource, error) // a source that has no token yet
	ctx   context.Context                                       // of the process: oauth2's interface carries none
	early time.Duration

	mu   sync.Mutex
	held *oauth2.Token
}

// Token implements oauth2.TokenSource.
func (t *tokens) Token() (*oauth2.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held.Valid() && (t.held.Expiry.IsZero() || time.Until(t.held.Expiry) > t.early) {
		return t.held, nil
	}
	source, err := t.find(t.ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSignIn, err)
	}
	token, err := source.Token()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSignIn, err)
	}
	t.held = token
	return token, nil
}

// withClient gives a context whose token requests go through the transport.
func withClient(transport http.RoundTripper) context.Context {
	return context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Transport: transport, Timeout: objects.HeaderTimeout})
}

// own finds the identity that signs in: the service key's, else the machine's.
func (c Config) own(ctx context.Context) (oauth2.TokenSource, error) {
	params := google.CredentialsParams{Scopes: []string{scope}}
	var found *google.Credentials
	var err error
	if c.ServiceKey != "" {
		found, err = google.CredentialsFromJSONWithTypeAndParams(ctx, []byte(c.ServiceKey), google.ServiceAccount, params)
	} else {
		found, err = google.FindDefaultCredentialsWithParams(ctx, params)
	}
	if err != nil {
		return nil, err
	}
	return found.TokenSource, nil
}

// acting finds the identity that Sluice acts as, with tokens of the lifetime where another than the own one is asked.
func (c Config) acting(own oauth2.TokenSource, transport http.RoundTripper, lifetime time.Duration) func(context.Context) (oauth2.TokenSource, error) {
	return func(ctx context.Context) (oauth2.TokenSource, error) {
		if c.ServiceAccount == "" {
			return own, nil
		}
		client := &http.Client{Transport: &oauth2.Transport{Source: own, Base: transport}, Timeout: objects.HeaderTimeout}
		return impersonate.CredentialsTokenSource(ctx, impersonate.CredentialsConfig{
			TargetPrincipal: c.ServiceAccount, Scopes: []string{scope}, Lifetime: lifetime,
		}, option.WithHTTPClient(client))
	}
}
