package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// Verify tells the first thing that is wrong with the settings, whatever command uses them.
func (c *Config) Verify() error {
	for _, check := range []func() error{c.verifyAddresses, c.verifyDatabase, c.verifyTemporal, c.verifyStorage, c.verifyTuning, c.verifyFacade, c.verifyData} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func invalid(format string, args ...any) error { return fault.New(fault.Invalid, format, args...) }

func (c *Config) verifyAddresses() error {
	if c.DataDir == "" {
		return invalid("data is empty: name a folder")
	}
	if err := verifyHostPort("listen", c.Listen); err != nil {
		return err
	}
	if c.PublicURL != "" && !isHTTP(c.PublicURL) {
		return invalid("public-url %q is not a URL such as https://sluice.example.com", c.PublicURL)
	}
	if _, err := c.TrustedProxies(); err != nil {
		return err
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		return invalid("log-level %q is not one of debug, info, warn, error", c.Log.Level)
	}
	if !slices.Contains([]string{"auto", "text", "json"}, c.Log.Format) {
		return invalid("log-format %q is not one of auto, text, json", c.Log.Format)
	}
	return verifyCatalog(c.Catalog)
}

// verifyCatalog refuses names under which no client could address the catalog: routes begin with some, and a ref takes
// what is before its first dot for one.
func verifyCatalog(name string) error {
	if name == "" || strings.ContainsAny(name, "./ \x1f") {
		return invalid("catalog %q is not a name: it must not be empty nor have dots, slashes or spaces", name)
	}
	if slices.Contains([]string{"v1", "namespaces"}, name) {
		return invalid("catalog %q cannot be addressed, because routes begin so: choose another name", name)
	}
	return nil
}

func (c *Config) verifyDatabase() error {
	u, err := url.Parse(c.Database.URL.Reveal())
	if err != nil || c.Database.URL != "" && !slices.Contains([]string{"postgres", "postgresql", "sqlite"}, u.Scheme) {
		// Without the value: it has the password.
		return invalid("database-url is not a URL such as postgres://user:password@host:5432/sluice")
	}
	if c.Database.MaxConns < 1 {
		return invalid("database-max-conns is %d: it must be at least 1", c.Database.MaxConns)
	}
	return nil
}

func (c *Config) verifyTemporal() error {
	t := c.Temporal
	for _, p := range []struct {
		name   string
		number int
	}{{"temporal-port", t.Port}, {"ui-port", t.UIPort}} {
		if p.number < 0 || p.number > 65535 {
			return invalid("%s is %d: it must be from 0 (any free port) to 65535", p.name, p.number)
		}
	}
	if net.ParseIP(t.IP) == nil {
		return invalid("temporal-ip %q is not an IP address", t.IP)
	}
	if err := verifyHostPort("temporal-address", t.Address); err != nil {
		return err
	}
	if t.UIURL != "" && !isHTTP(t.UIURL) {
		return invalid("temporal-ui-url %q is not a URL such as https://temporal.example.com", t.UIURL)
	}
	if t.Namespace == "" {
		return invalid("temporal-namespace is empty")
	}
	if t.Retention < 24*time.Hour {
		return invalid("temporal-retention is %s: Temporal wants at least 24h", t.Retention)
	}
	if (t.TLSCert == "") != (t.TLSKey == "") {
		return invalid("temporal-tls-cert and temporal-tls-key belong together: set both or neither")
	}
	return nil
}

func (c *Config) verifyTuning() error {
	if c.Limits.Body < 1<<10 {
		return invalid("body-limit is %s: it must be at least 1KiB", c.Limits.Body)
	}
	if c.ReservedPrefix == "" || !strings.HasSuffix(c.ReservedPrefix, ".") {
		return invalid("reserved-prefix %q must end with a dot, such as sluice.", c.ReservedPrefix)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
		least time.Duration
	}{
		{"sweep-interval", c.SweepInterval, time.Second},
		{"file-check-interval", c.CheckInterval, time.Second},
		{"drop-grace-period", c.Drops.Grace, 0},
		{"dispatch-poll", c.Dispatch.PollInterval, 10 * time.Millisecond},
		{"access-token-lifetime", c.Tokens.Access, time.Minute},
		{"engine-token-lifetime", c.Tokens.Engine, 0},
		{"secret-overlap", c.Tokens.SecretOverlap, 0},
		{"signing-key-lifetime", c.Tokens.SigningKey, time.Hour},
		{"writer-watch-interval", c.Watch.Interval, time.Second},
		{"stalled-writer-floor", c.Watch.StallFloor, time.Second},
		{"token-expiry-warning", c.Watch.TokenWarning, 0},
		{"removed-file-memory", c.Watch.FileMemory, time.Hour},
		{"audit-checkpoint-interval", c.Audit.Checkpoint, time.Second},
		{"audit-retention", c.Audit.Retention, 0},
		{"audit-export-interval", c.Audit.Export, 0},
		{"webhook-give-up", c.Webhooks.GiveUp, time.Minute},
	} {
		if d.value < d.least {
			return invalid("%s is %s: it must be at least %s", d.name, d.value, d.least)
		}
	}
	if c.Tokens.Issuer == "" {
		return invalid("token-issuer is empty: name what access tokens are to call their issuer, such as sluice")
	}
	if c.Dispatch.BatchAfter < 1 || c.Dispatch.BatchSize < 1 {
		return invalid("dispatch-batch-after and dispatch-batch-size must be at least 1")
	}
	return c.verifyWatch()
}

func (c *Config) verifyWatch() error {
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"stalled-writer-factor", int64(c.Watch.StallFactor)},
		{"snapshot-rate-limit", int64(c.Watch.SnapshotsHourly)},
		{"small-file-size", int64(c.Watch.SmallFile)},
		{"equality-delete-limit", int64(c.Watch.EqualityDeletes)},
		{"metadata-size-limit", int64(c.Watch.MetadataSize)},
		{"recount-scan-limit", int64(c.Watch.ScanLimit)},
	} {
		if n.value < 1 {
			return invalid("%s must be at least 1", n.name)
		}
	}
	if c.Audit.Retention > 0 && c.Audit.Retention < leastRetention {
		return invalid("audit-retention is %s: it must be at least %s, or 0 to keep every event", c.Audit.Retention, leastRetention)
	}
	return nil
}

// leastRetention keeps a typing mistake from removing the audit of yesterday.
const leastRetention = 24 * time.Hour

// TrustedProxies gives the networks whose X-Forwarded-For is believed.
func (c *Config) TrustedProxies() ([]netip.Prefix, error) {
	networks := make([]netip.Prefix, 0, len(c.Proxies))
	for _, text := range c.Proxies {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, invalid("trusted-proxies has %q, which is not a network such as 10.0.0.0/8", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

func verifyHostPort(name, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return invalid("%s %q is not host:port, such as 127.0.0.1:8181", name, address)
	}
	return nil
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
