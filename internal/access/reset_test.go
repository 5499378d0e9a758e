package access_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/models"
)

// lateStore does something just before a token is issued, once.
type lateStore struct {
	access.Store
	before func()
}

func (s *lateStore) IssueToken(ctx context.Context, t models.Token, version int64, event models.AuditEvent) error {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	return s.Store.IssueToken(ctx, t, version, event)
}

// TestNoTokenOutrunsAReset: a request that was let in by what a reset or a first rotation ends gets no token that
// outlives it, however the two fall.
func TestNoTokenOutrunsAReset(t *testing.T) {
	for name, url := range databases() {
		t.Run(name, func(t *testing.T) {
			d := newDeskAt(t, url(t))
			ctx := context.Background()
			late := &lateStore{Store: d.store}
			oauth := access.NewOAuth(late, d.auth, d.clock)
			reset := func(p models.Principal) func() {
				return func() {
					p.SecretHash, p.RotationRequired = access.HashSecret(access.NewClientSecret()), false
					must(t, d.store.ResetSecret(ctx, p, anEvent(models.AuditPrincipalSecretReset)))
				}
			}
			refused := func(in access.GrantRequest, code string) {
				t.Helper()
				_, err := oauth.IssueAccessToken(ctx, in)
				if refusal, ok := errors.AsType[*access.OAuthError](err); !ok || refusal.Code != code {
					t.Fatalf("the answer is %v, want %s", err, code)
				}
			}
			thief := d.newPrincipal(t, "job")
			late.before = reset(thief.Principal)
			refused(access.GrantRequest{GrantType: byCredentials, ClientID: thief.creds.ClientID, ClientSecret: thief.creds.ClientSecret}, "invalid_client")

			holder := d.newPrincipal(t, "other")
			bearer := d.bearer(t, holder.creds, "")
			late.before = reset(holder.Principal)
			refused(access.GrantRequest{GrantType: byExchange, SubjectToken: bearer}, "invalid_grant")

			// A change that ends nothing costs another look.
			changed := d.newPrincipal(t, "third")
			late.before = func() {
				must(t, d.store.UpdatePrincipal(ctx, changed.Principal, anEvent(models.AuditPrincipalUpdated)))
			}
			_, err := oauth.IssueAccessToken(ctx, access.GrantRequest{GrantType: byCredentials, ClientID: changed.creds.ClientID, ClientSecret: changed.creds.ClientSecret})
			must(t, err)

			// One who changes all the time.
			restless := d.newPrincipal(t, "fourth")
			var again func()
			again = func() {
				must(t, d.store.UpdatePrincipal(ctx, restless.Principal, anEvent(models.AuditPrincipalUpdated)))
				restless.Version++
				late.before = again
			}
			late.before = again
			_, err = oauth.IssueAccessToken(ctx, access.GrantRequest{GrantType: byCredentials, ClientID: restless.creds.ClientID, ClientSecret: restless.creds.ClientSecret})
			wantCode(t, err, "unavailable", "Ask again")
		})
	}
}
