package access_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func (d *desk) tryLogin(t *testing.T, id, secret, address string) {
	t.Helper()
	_, _ = d.oauth.IssueAccessToken(context.Background(), access.GrantRequest{
		GrantType: "client_credentials", ClientID: id, ClientSecret: secret,
		Origin: policy.Origin{Address: address, RequestID: "r-" + address, Client: "curl/8"},
	})
}

func (d *desk) events(t *testing.T, typ models.AuditType) []models.AuditEvent {
	t.Helper()
	events, err := d.store.AuditEvents(context.Background(), models.AuditFilter{Type: typ, Limit: 1000})
	must(t, err)
	return events
}

func TestLoginsTellWhereTheyCameFrom(t *testing.T) {
	d := newDesk(t)
	d.tryLogin(t, d.creds.ClientID, d.creds.ClientSecret, "192.0.2.7")
	events := d.events(t, models.AuditTokenMinted)
	if len(events) != 1 || events[0].Address != "192.0.2.7" || events[0].RequestID != "r-192.0.2.7" {
		t.Fatalf("the audit of a login is %+v", events)
	}
	if denied := d.events(t, models.AuditRequestDenied); len(denied) != 0 {
		t.Errorf("a login that succeeded was recorded as %+v", denied)
	}
}

func TestFailedLoginsAreRecorded(t *testing.T) {
	d := newDesk(t)
	d.tryLogin(t, d.creds.ClientID, "wrong", "192.0.2.7")
	events := d.events(t, models.AuditRequestDenied)
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	e := events[0]
	if e.Allowed || e.Principal != models.RootPrincipal || e.Address != "192.0.2.7" || e.RequestID != "r-192.0.2.7" ||
		!strings.Contains(e.Reason, "secret is wrong") || e.Details.V["clientId"] != d.creds.ClientID || e.Details.V["client"] != "curl/8" {
		t.Errorf("the event is %+v", e)
	}
	// Again within the minute: once is enough. From elsewhere, or later: recorded.
	d.tryLogin(t, d.creds.ClientID, "wrong", "192.0.2.7")
	d.tryLogin(t, d.creds.ClientID, "wrong", "192.0.2.8")
	d.now = d.now.Add(time.Minute)
	d.tryLogin(t, d.creds.ClientID, "wrong", "192.0.2.7")
	if n := len(d.events(t, models.AuditRequestDenied)); n != 3 {
		t.Errorf("%d events, want 3", n)
	}
}

// The right secret of a disabled principal is told from a wrong one in the audit, and not to the client.
func TestLoginsOfDisabledPrincipalsAreRecordedAsThat(t *testing.T) {
	d := newDesk(t)
	root := mustPrincipal(t, d, models.RootPrincipal)
	root.Disabled = true
	must(t, d.store.UpdatePrincipal(context.Background(), root, anEvent(models.AuditPrincipalUpdated)))
	var told []string
	for _, secret := range []string{"wrong", d.creds.ClientSecret, "wrong", d.creds.ClientSecret} {
		_, err := d.oauth.IssueAccessToken(context.Background(), access.GrantRequest{
			GrantType: "client_credentials", ClientID: d.creds.ClientID, ClientSecret: secret, Origin: policy.Origin{Address: "192.0.2.7"},
		})
		wantOAuth(t, err, "invalid_client", 401)
		told = append(told, err.Error())
	}
	if told[0] != told[1] {
		t.Errorf("clients are told %q", told)
	}
	events := d.events(t, models.AuditRequestDenied) // newest first; the same again within the minute is not recorded
	if len(events) != 2 || events[0].Principal != models.RootPrincipal || !strings.Contains(events[0].Reason, "disabled") || strings.Contains(events[1].Reason, "disabled") {
		t.Errorf("the audit has %+v", events)
	}
}

// A secret that was sent in the place of the id must not end up in the audit.
func TestFailedLoginsShowNoSecret(t *testing.T) {
	d := newDesk(t)
	d.tryLogin(t, d.creds.ClientSecret, d.creds.ClientID, "192.0.2.7")
	for _, e := range d.events(t, models.AuditRequestDenied) {
		if text := fmt.Sprint(e); strings.Contains(text, d.creds.ClientSecret) {
			t.Error(text)
		}
	}
}

func TestFailedLoginsCannotFloodTheAudit(t *testing.T) {
	d := newDesk(t)
	for i := range 500 {
		d.tryLogin(t, fmt.Sprint("client-", i), "wrong", "192.0.2.7")
	}
	if n := len(d.events(t, models.AuditRequestDenied)); n != 60 {
		t.Errorf("500 failed logins of a minute made %d events, want 60", n)
	}
}
