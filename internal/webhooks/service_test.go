package webhooks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

// each is every use case, on a webhook that is there, and whether it changes something.
func (d *desk) each(id string) map[string]func(policy.Caller) error {
	ctx := d.t.Context()
	in := webhooks.Input{Name: ptr("b"), URL: ptr("https://example.com/")}
	return map[string]func(policy.Caller) error{
		"list": func(c policy.Caller) error { _, err := d.Webhooks(ctx, c, "", 10); return err },
		"show": func(c policy.Caller) error { _, err := d.Webhook(ctx, c, id); return err },
		"deliveries": func(c policy.Caller) error {
			_, err := d.Deliveries(ctx, c, models.DeliveryFilter{WebhookID: id})
			return err
		},
		"+create": func(c policy.Caller) error { _, _, err := d.CreateWebhook(ctx, c, in); return err },
		"+update": func(c policy.Caller) error { _, _, err := d.UpdateWebhook(ctx, c, id, in); return err },
		"+delete": func(c policy.Caller) error { return d.DeleteWebhook(ctx, c, id) },
		"+test":   func(c policy.Caller) error { _, err := d.TestWebhook(ctx, c, id); return err },
		"+replay": func(c policy.Caller) error { _, err := d.Replay(ctx, c, id, time.Time{}, true); return err },
	}
}

func TestWebhooksAreForWhoReadsTheWholeAudit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	to := d.receiver(http.StatusOK)
	w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL})
	root := d.root()
	none, bound, readOnly, job := root, root, root, root
	none.Held = policy.NewHeld(nil, []policy.Grant{{ObjectID: "x", Privilege: models.CatalogManageAccess}})
	bound.CatalogID = "x"
	readOnly.ReadOnly = true
	job.CanGovern = false
	for name, use := range d.each(w.ID) {
		changes := strings.HasPrefix(name, "+")
		for who, caller := range map[string]policy.Caller{"none": none, "bound": bound, "read-only": readOnly, "job": job} {
			err := use(caller)
			if !changes && (who == "read-only" || who == "job") {
				assert.NoError(t, err, name+" "+who)
				continue
			}
			assert.Equal(t, fault.Forbidden, fault.CodeOf(err), name+" "+who)
		}
	}
	assert.Len(t, d.events(models.AuditWebhookCreated), 1)
	assert.Empty(t, d.events(models.AuditWebhookUpdated))
	assert.Empty(t, to.got())
}

func TestTheSecretIsShownOnceAndNotStored(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	to := d.receiver(http.StatusOK)
	w, secret, err := d.CreateWebhook(t.Context(), d.root(), webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
	require.NoError(t, err)
	assert.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, secret)
	stored, err := d.store.Webhook(t.Context(), w.ID)
	require.NoError(t, err)
	assert.NotContains(t, string(stored.Secret), secret)
	for _, e := range d.events("") {
		assert.NotContains(t, fmt.Sprint(e), "whsec_")
	}
	_, rotated, err := d.UpdateWebhook(t.Context(), d.root(), w.ID, webhooks.Input{RotateSecret: true})
	require.NoError(t, err)
	assert.NotEqual(t, secret, rotated)
	d.happen(1, models.AuditTokenMinted)
	d.round()
	assertSigned(t, to.got()[0], rotated)
	updates := d.events(models.AuditWebhookUpdated)
	require.Len(t, updates, 1)
	assert.Equal(t, true, updates[0].Details.V["secretRotated"])
}

// A secret that was sealed for one webhook signs nothing of another.
func TestASecretThatCannotBeOpenedIsSaid(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	to := d.receiver(http.StatusOK)
	a := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
	b := d.webhook(webhooks.Input{Name: ptr("b"), URL: &to.URL, Types: ptr([]string{"signing_key.created"})})
	row, err := d.store.Webhook(t.Context(), a.ID)
	require.NoError(t, err)
	other, err := d.store.Webhook(t.Context(), b.ID)
	require.NoError(t, err)
	row.Secret = other.Secret
	require.NoError(t, d.store.UpdateWebhook(t.Context(), row, row.UpdatedAt, models.AuditEvent{Type: models.AuditWebhookUpdated}))
	d.happen(1, models.AuditTokenMinted)
	assert.Equal(t, webhooks.Page{Failed: 1}, d.round())
	assert.Contains(t, d.deliveries(a.ID, "")[0].LastError, "secret cannot be decrypted")
	assert.Empty(t, to.got())
	_, err = d.TestWebhook(t.Context(), d.root(), a.ID)
	assert.Equal(t, fault.Unavailable, fault.CodeOf(err))
}

// A worker without encryption keys leaves deliveries to those that have some: it spends none of their attempts.
func TestAWorkerWithoutKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	to := d.receiver(http.StatusOK)
	w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
	d.happen(1, models.AuditTokenMinted)
	keyless := *d.courier
	keyless.Sealer = nil
	_, err := keyless.Await(t.Context(), nil, 0, nil)
	require.NoError(t, err)
	_, err = keyless.Deliver(t.Context(), w.ID)
	assert.Equal(t, fault.Unavailable, fault.CodeOf(err))
	assert.Zero(t, d.deliveries(w.ID, "")[0].Attempts)
	assert.Equal(t, webhooks.Page{Delivered: 1}, d.round())
}

func TestWebhookChanges(t *testing.T) {
	everywhere(t, func(t *testing.T, d *desk) {
		ctx, root := t.Context(), d.root()
		to := d.receiver(http.StatusOK)
		w := d.webhook(webhooks.Input{Name: ptr("a"), URL: &to.URL, Types: ptr([]string{"token.minted"})})
		d.webhook(webhooks.Input{Name: ptr("b"), URL: &to.URL, Types: ptr([]string{"signing_key.created"})})
		change := func(in webhooks.Input) (webhooks.View, error) {
			view, _, err := d.UpdateWebhook(ctx, root, w.ID, in)
			return view, err
		}
		for name, c := range map[string]struct {
			in   webhooks.Input
			want fault.Code
		}{
			"a taken name":   {webhooks.Input{Name: ptr("b")}, fault.AlreadyExists},
			"no name":        {webhooks.Input{Name: ptr("")}, fault.Invalid},
			"a wrong name":   {webhooks.Input{Name: ptr(" a")}, fault.Invalid},
			"no such event":  {webhooks.Input{Types: ptr([]string{"finding.open"})}, fault.Invalid},
			"no such group":  {webhooks.Input{Types: ptr([]string{"findings.*"})}, fault.Invalid},
			"every group":    {webhooks.Input{Types: ptr([]string{"*"})}, fault.Invalid},
			"nothing at all": {webhooks.Input{Types: ptr([]string{".*"})}, fault.Invalid},
			"no catalog":     {webhooks.Input{Catalog: ptr("lake")}, fault.Invalid},
			"a wrong URL":    {webhooks.Input{URL: ptr("example.com")}, fault.Invalid},
		} {
			_, err := change(c.in)
			assert.Equal(t, c.want, fault.CodeOf(err), name)
		}
		same, err := change(webhooks.Input{Name: ptr("a")})
		require.NoError(t, err)
		assert.Equal(t, w.UpdatedAt, same.UpdatedAt)
		assert.Empty(t, d.events(models.AuditWebhookUpdated), "a change that changes nothing is none")

		_, err = change(webhooks.Input{Disabled: ptr(true)})
		require.NoError(t, err)
		d.happen(5, models.AuditTokenMinted)
		assert.Zero(t, d.round())
		view, err := change(webhooks.Input{Disabled: ptr(false)})
		require.NoError(t, err)
		assert.False(t, view.Disabled)
		id := d.happen(1, models.AuditTokenMinted)
		d.round()
		assert.Equal(t, id, to.ids(), "it gets what happens from then on")
		assert.Len(t, d.events(models.AuditWebhookUpdated), 2)

		row, err := d.store.Webhook(ctx, w.ID)
		require.NoError(t, err)
		err = d.store.UpdateWebhook(ctx, row, row.UpdatedAt.Add(-time.Second), models.AuditEvent{Type: models.AuditWebhookUpdated})
		assert.Equal(t, fault.Conflict, fault.CodeOf(err), "somebody else was faster")

		require.NoError(t, d.DeleteWebhook(ctx, root, w.ID))
		for name, use := range d.each(w.ID) {
			if name != "list" && name != "+create" {
				assert.Equal(t, fault.NotFound, fault.CodeOf(use(root)), name)
			}
		}
		_, err = d.Webhook(ctx, root, "\x00")
		assert.Equal(t, fault.NotFound, fault.CodeOf(err))
		assert.Len(t, d.events(models.AuditWebhookDeleted), 1)
		left, err := d.Webhooks(ctx, root, "", 10)
		require.NoError(t, err)
		assert.Len(t, left, 1)
	})
}

func TestThereAreNotTooManyWebhooks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	in := func(n int) webhooks.Input {
		return webhooks.Input{Name: ptr(fmt.Sprint(n)), URL: ptr("https://example.com/"), Disabled: ptr(true)}
	}
	for n := range 100 {
		d.webhook(in(n))
	}
	_, _, err := d.CreateWebhook(t.Context(), d.root(), in(100))
	assert.Equal(t, fault.Invalid, fault.CodeOf(err))
	page, err := d.Webhooks(t.Context(), d.root(), "", 60)
	require.NoError(t, err)
	rest, err := d.Webhooks(t.Context(), d.root(), page[59].ID, 60)
	require.NoError(t, err)
	assert.Len(t, rest, 40)
}

func TestATestSendsASignedPing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	to := d.receiver(http.StatusAccepted)
	w, secret, err := d.CreateWebhook(t.Context(), d.root(), webhooks.Input{Name: ptr("a"), URL: &to.URL, Disabled: ptr(true)})
	require.NoError(t, err)
	got, err := d.TestWebhook(t.Context(), d.root(), w.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{true, 202, "", "said 202"}, []any{got.OK, got.Status, got.Problem, got.Body})
	require.Len(t, to.got(), 1)
	assertSigned(t, to.got()[0], secret)
	assert.Equal(t, "dev.sluice.webhook.ping", to.got()[0].event["type"])
	assert.Equal(t, got.EventID, to.got()[0].id())
}

func TestAReplaySaysWhatIsMeant(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	w := d.webhook(webhooks.Input{Name: ptr("a"), URL: ptr("https://example.com/"), Disabled: ptr(true)})
	for name, use := range map[string]func() error{
		"neither":  func() error { _, err := d.Replay(t.Context(), d.root(), w.ID, time.Time{}, false); return err },
		"both":     func() error { _, err := d.Replay(t.Context(), d.root(), w.ID, d.now(), true); return err },
		"disabled": func() error { _, err := d.Replay(t.Context(), d.root(), w.ID, d.now(), false); return err },
	} {
		assert.Equal(t, fault.Invalid, fault.CodeOf(use()), name)
	}
}
