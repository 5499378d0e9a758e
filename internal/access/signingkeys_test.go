package access_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// published gives the kids of the key set.
func published(t testing.TB, p process) []string {
	t.Helper()
	text, err := p.keys.JWKS(context.Background())
	must(t, err)
	var set struct {
		Keys []map[string]string `json:"keys"`
	}
	must(t, json.Unmarshal(text, &set))
	kids := []string{}
	for _, key := range set.Keys {
		if key["kty"] != "EC" || key["crv"] != "P-256" || key["alg"] != "ES256" || key["use"] != "sig" || key["x"] == "" || key["y"] == "" {
			t.Errorf("a key is published as %v", key)
		}
		if key["d"] != "" {
			t.Error("a private key is published")
		}
		kids = append(kids, key["kid"])
	}
	return kids
}

func (p process) listed(t testing.TB) []access.KeyView {
	t.Helper()
	views, err := p.keys.List(context.Background())
	must(t, err)
	return views
}

func TestKeysAreMadeWhenTheyAreNeeded(t *testing.T) {
	d := newDesk(t)
	if kids := published(t, d.process); len(kids) != 0 {
		t.Fatalf("%d keys before the first token", len(kids))
	}
	d.login(t)
	d.login(t)
	kids := published(t, d.process)
	if len(kids) != 1 || len(d.events(t, models.AuditSigningKeyCreated)) != 1 {
		t.Fatalf("two tokens took %d keys", len(kids))
	}
	if by := d.events(t, models.AuditSigningKeyCreated)[0].Principal; by != "sluice" {
		t.Errorf("the audit says that %q made it", by)
	}
	rows, err := d.store.SigningKeys(context.Background())
	must(t, err)
	if text := string(rows[0].Private); strings.Contains(text, "PRIVATE") || strings.Contains(text, "\x30\x81\x87") {
		t.Error("the private key is stored as it is")
	}
}

// A key signs until it retires and verifies until the last token that it signed has expired. Then it is gone.
func TestKeysRotateByThemselves(t *testing.T) {
	d := newDesk(t)
	other := d.another(t)
	_, first := d.login(t)
	kid := published(t, d.process)[0]
	d.now = d.now.Add(lifetimes.KeyLifetime - time.Minute)
	last := d.bearer(t, d.creds, "")
	if kids := published(t, other); len(kids) != 1 {
		t.Fatalf("there are %d keys before the first retires", len(kids))
	}
	d.now = d.now.Add(time.Minute)
	d.refused(t, first, "expired")
	fresh := other.bearer(t, d.creds, "")
	d.caller(t, fresh)
	d.caller(t, last)
	other.caller(t, last)
	kids := published(t, d.process)
	if len(kids) != 2 || kids[0] == kid || kids[1] != kid {
		t.Fatalf("the keys are %v after %s retired", kids, kid)
	}
	d.now = d.now.Add(59*time.Minute + 30*time.Second)
	d.refused(t, last, "expired")
	d.now = d.now.Add(10 * time.Minute)
	if kids := published(t, d.process); len(kids) != 1 || kids[0] == kid {
		t.Errorf("the keys are %v after %s was to be forgotten", kids, kid)
	}
}

func TestRotatedByHand(t *testing.T) {
	d := newDesk(t)
	other := d.another(t)
	_, old := d.login(t)
	by := policy.Caller{Principal: "operator"}
	made, err := d.keys.Rotate(context.Background(), by, false)
	must(t, err)
	fresh := other.bearer(t, d.creds, "")
	for _, p := range []process{d.process, other} {
		p.caller(t, old)
		p.caller(t, fresh)
	}
	if views := d.listed(t); len(views) != 2 || !views[0].Signs || views[1].Signs || views[0].ID != made.ID || views[1].RetiresAt.After(d.now) {
		t.Fatalf("the keys are %+v", views)
	}
	made, err = other.keys.Rotate(context.Background(), by, true)
	must(t, err)
	for _, p := range []process{d.process, other} {
		p.refused(t, old, "not in use")
		p.refused(t, fresh, "not in use")
		if kids := published(t, p); len(kids) != 1 || kids[0] != made.ID {
			t.Errorf("the keys are %v", kids)
		}
	}
	d.caller(t, other.bearer(t, d.creds, ""))
	created, revoked := d.events(t, models.AuditSigningKeyCreated), d.events(t, models.AuditSigningKeysRevoked)
	if len(created) != 3 || created[0].Principal != "operator" || len(revoked) != 1 || revoked[0].Principal != "operator" {
		t.Errorf("the audit has %+v and %+v", created, revoked)
	}
}

func TestProcessesRaceForTheFirstKey(t *testing.T) {
	for database, url := range databases() {
		t.Run(database, func(t *testing.T) { raceForTheFirstKey(t, newDeskAt(t, url(t))) })
	}
}

func raceForTheFirstKey(t *testing.T, d *desk) {
	processes := []process{d.process, d.another(t), d.another(t), d.another(t)}
	bearers := make([]string, 16)
	var wait sync.WaitGroup
	start := make(chan struct{})
	for i := range bearers {
		wait.Go(func() {
			<-start
			grant, err := processes[i%len(processes)].ask(d.creds, "")
			if err != nil {
				t.Error(err)
				return
			}
			bearers[i] = grant.AccessToken
		})
	}
	close(start)
	wait.Wait()
	if kids := published(t, d.process); len(kids) != 1 {
		t.Fatalf("%d keys were made", len(kids))
	}
	for _, bearer := range bearers {
		for _, p := range processes {
			p.caller(t, bearer)
		}
	}
}

// A process with another encryption key signs with a key of its own, and both accept each other's tokens.
func TestKeysOfOtherEncryptionKeys(t *testing.T) {
	d := newDesk(t)
	_, old := d.login(t)
	other := d.processOver(t, d.open(t), keyring.Generate(), lifetimes)
	for range 3 {
		ours, theirs := d.bearer(t, d.creds, ""), other.bearer(t, d.creds, "")
		for _, p := range []process{d.process, other} {
			for _, bearer := range []string{old, ours, theirs} {
				p.caller(t, bearer)
			}
		}
	}
	ours, theirs := d.listed(t), other.listed(t)
	if len(ours) != 2 || !ours[0].Sealed || ours[1].Sealed || !ours[1].Signs || theirs[0].Sealed || !theirs[1].Sealed || !theirs[0].Signs {
		t.Errorf("the keys are %+v here and %+v there", ours, theirs)
	}
	broken := d.processOver(t, d.open(t), d.ring, lifetimes)
	must(t, d.exec(`UPDATE signing_keys SET public = x'00', private = x'00' WHERE id = ?`, theirs[0].ID))
	broken.caller(t, broken.bearer(t, d.creds, ""))
	broken.caller(t, old)
}

// Keys are read again after every change of anyone's rights; the log is told once of each that cannot be opened.
func TestTroubleWithAKeyIsToldOnce(t *testing.T) {
	d := newDesk(t)
	_, bearer := d.login(t)
	ring, err := keyring.Parse(keyring.Generate())
	must(t, err)
	var log bytes.Buffer
	keys := access.NewTokenKeys(d.store, ring.For("signing-keys"), lifetimes, d.clock, slog.New(slog.NewTextHandler(&log, nil)))
	auth := access.NewAuthenticator(d.store, keys, nil, d.clock)
	for i := range 5 {
		d.newPrincipal(t, fmt.Sprint("job-", i))
		if _, err := auth.Authenticate(context.Background(), bearer); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "cannot be opened"); n != 1 {
		t.Errorf("the log was told %d times: %s", n, log.String())
	}
}

// When tokens are to live longer than they were when a key was made, it does not sign what it cannot outlive.
func TestLongerTokensTakeANewKey(t *testing.T) {
	d := newDesk(t)
	d.login(t)
	long := lifetimes
	long.TokenLifetime = 40 * 24 * time.Hour
	p := d.processOver(t, d.open(t), d.ring, long)
	bearer := p.bearer(t, d.creds, "")
	d.now = d.now.Add(39 * 24 * time.Hour)
	d.login(t)
	p.caller(t, bearer)
	d.caller(t, bearer)
}

func TestTokensSayWhoseTheyAre(t *testing.T) {
	d := newDesk(t)
	p := d.newPrincipal(t, "job", d.newRole(t, "readers", models.TableReadData))
	said := claimsOf(t, d.bearer(t, p.creds, "PRINCIPAL_ROLE:readers"))
	for claim, want := range map[string]any{
		"iss": "sluice", "sub": p.ID, "principal": "job", "client_id": p.creds.ClientID, "scope": "PRINCIPAL_ROLE:readers",
		"iat": float64(d.now.Unix()), "exp": float64(d.now.Add(time.Hour).Unix()),
	} {
		if said[claim] != want {
			t.Errorf("%s is %v, want %v", claim, said[claim], want)
		}
	}
	row, err := d.store.TokenByID(context.Background(), said["jti"].(string))
	must(t, err)
	if row.Kind != models.AccessToken || row.PrincipalID != p.ID || row.Hash != row.ID {
		t.Errorf("its row is %+v", row)
	}
}
