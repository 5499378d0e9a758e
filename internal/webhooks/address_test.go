package webhooks_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/webhooks"
)

func TestAddressesThatAreRefusedByTheirLooks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	for url, want := range map[string]string{
		"":                                    "at most 2000 bytes",
		"https://":                            "address such as",
		"example.com/hook":                    "address such as",
		"https:example.com":                   "address such as",
		"https://exa mple.com/":               "address such as",
		"https://example.com/\n":              "address such as",
		"http://example.com/hook":             "https://",
		"ftp://example.com/hook":              "https://",
		"file:///etc/passwd":                  "address such as",
		"https://user:secret@example.com/":    "credentials",
		"https://user@example.com/":           "credentials",
		"https://example.com/#top":            "fragment",
		"https://localhost/":                  "private network",
		"https://api.localhost/":              "private network",
		"https://vault/":                      "private network",
		"https://2130706433/":                 "usual form",
		"https://0x7f000001/":                 "usual form",
		"https://017700000001/":               "usual form",
		"https://127.1/":                      "usual form",
		"https://0x7f.0.0.1/":                 "usual form",
		"https://127.0.0.1.:443/":             "usual form",
		"https://127.0.0.1/":                  "of this machine",
		"https://127.9.9.9:8443/":             "of this machine",
		"https://[::1]/":                      "of this machine",
		"https://[::ffff:127.0.0.1]/":         "of this machine",
		"https://[::ffff:10.0.0.1]/":          "private",
		"https://[::ffff:a9fe:a9fe]/":         "link-local",
		"https://[::127.0.0.1]/":              "not public",
		"https://[64:ff9b::7f00:1]/":          "not public",
		"https://[2002:7f00:1::]/":            "IPv4",
		"https://[2001:0:7f00:1::]/":          "reserved",
		"https://[fe80::1]/":                  "link-local",
		"https://[fe80::1%25eth0]/":           "link-local",
		"https://[fd00:ec2::254]/":            "private",
		"https://[fec0::1]/":                  "not public",
		"https://[ff02::1]/":                  "multicast",
		"https://[::]/":                       "unspecified",
		"https://0.0.0.0/":                    "unspecified",
		"https://0.1.2.3/":                    "unspecified",
		"https://10.1.2.3/":                   "private",
		"https://172.16.0.1/":                 "private",
		"https://192.168.1.1/":                "private",
		"https://169.254.169.254/latest":      "link-local",
		"https://100.100.100.200/":            "inner network",
		"https://168.63.129.16/":              "metadata",
		"https://192.0.0.192/":                "reserved",
		"https://198.19.0.1/":                 "reserved",
		"https://224.0.0.1/":                  "multicast",
		"https://255.255.255.255/":            "reserved",
		"https://example.com/" + long(2000):   "at most 2000 bytes",
		"https://example.com/ünïcode":         "address such as",
		"https://[2001:db8::1]/":              "reserved",
		"https://[64:ff9b:1::7f00:1]/":        "not public",
		"https://[::ffff:0:127.0.0.1]/":       "not public",
		"https://[0:0:0:0:0:ffff:7f00:0001]/": "of this machine",
	} {
		_, _, err := d.CreateWebhook(t.Context(), d.root(), webhooks.Input{Name: ptr("a"), URL: &url})
		if assert.Error(t, err, url) {
			assert.Equal(t, fault.Invalid, fault.CodeOf(err), url)
			assert.Contains(t, err.Error(), want, url)
		}
	}
	for i, url := range []string{
		"https://example.com/", "https://example.com:8443/hook?token=s3cret", "https://93.184.216.34/", "https://[2606:2800:220:1:248:1893:25c8:1946]/x",
	} {
		_, _, err := d.CreateWebhook(t.Context(), d.root(), webhooks.Input{Name: ptr(string(rune('a' + i))), URL: &url})
		assert.NoError(t, err, url)
	}
	for _, e := range d.events("webhook.created") {
		assert.NotContains(t, e.Details.V["url"], "s3cret", "a query may be a secret")
	}
}

func long(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a'
	}
	return string(text)
}

// A name that is public by its looks, and resolves to this machine, is refused when the connection is made.
func TestAddressesAreJudgedByWhatIsConnectedTo(t *testing.T) {
	t.Parallel()
	reached := false
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(receiver.Close)
	_, port, err := net.SplitHostPort(receiver.Listener.Addr().String())
	require.NoError(t, err)
	names := nameServer(t)
	d := newDesk(t, false, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", names)
	}})
	w := d.webhook(webhooks.Input{Name: ptr("rebound"), URL: ptr("https://hooks.example.com:" + port + "/")})
	got, err := d.TestWebhook(t.Context(), d.root(), w.ID)
	require.NoError(t, err)
	assert.False(t, got.OK)
	assert.Zero(t, got.Status)
	assert.Contains(t, got.Problem, "127.0.0.1 is of this machine")
	assert.False(t, reached)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	inner := d.receiver(http.StatusOK)
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	t.Cleanup(outer.Close)
	w := d.webhook(webhooks.Input{Name: ptr("moved"), URL: &outer.URL})
	got, err := d.TestWebhook(t.Context(), d.root(), w.ID)
	require.NoError(t, err)
	assert.Equal(t, 307, got.Status)
	assert.Contains(t, got.Problem, "redirects are not followed")
	assert.Empty(t, inner.got())
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	proxied := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied = true }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	d := newDesk(t, false)
	w := d.webhook(webhooks.Input{Name: ptr("a"), URL: ptr("https://sluice.invalid/")})
	got, err := d.TestWebhook(t.Context(), d.root(), w.ID)
	require.NoError(t, err)
	assert.Zero(t, got.Status)
	assert.False(t, proxied)
}

// What a receiver says is kept short, and cannot disturb a terminal.
func TestAnswersAreCutAndCleaned(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte("no\x1b[31m \xff\n<b>" + strings.Repeat("x", 1<<20)))
	}))
	t.Cleanup(receiver.Close)
	w := d.webhook(webhooks.Input{Name: ptr("loud"), URL: &receiver.URL})
	got, err := d.TestWebhook(t.Context(), d.root(), w.ID)
	require.NoError(t, err)
	assert.Equal(t, 400, got.Status)
	assert.True(t, strings.HasPrefix(got.Body, "no [31m <b>xxx"), got.Body[:20])
	assert.LessOrEqual(t, len([]rune(got.Body)), 500)
	assert.Less(t, got.Took, 5*time.Second)
}
