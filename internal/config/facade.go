package config

import (
	"net/url"
	"strings"
	"time"
)

// Facade says how the catalog's REST facade behaves towards engines.
type Facade struct {
	IdempotencyLifetime time.Duration // how long a repeat under an Idempotency-Key is recognised, 0 to offer none
	NamespaceSeparator  string        // percent-encoded, offered besides %1F; "" or %1F for no other
	FormatVersions      string        // of tables, where their catalog does not say
	InFlight            int           // requests served at once, 0 for no limit
	PerSecond           int           // requests of one principal, 0 for no limit
}

func defaultFacade() Facade {
	return Facade{IdempotencyLifetime: time.Hour, FormatVersions: "1,2,3", InFlight: 1000}
}

func (c *Config) facadeSettings() []Setting {
	f := &c.Facade
	return []Setting{
		{Name: "max-in-flight", Scope: Serving, Value: number(&f.InFlight), Usage: "requests served at once; more are asked to come back before anything is done, 0 for no limit"},
		{Name: "rate-limit", Scope: Serving, Value: number(&f.PerSecond), Usage: "requests a second of one principal, 0 for no limit"},
		{Name: "idempotency-lifetime", Scope: Serving, Value: duration(&f.IdempotencyLifetime), Usage: "how long a request repeated under its Idempotency-Key is recognised, 0 to offer none"},
		{Name: "namespace-separator", Scope: Serving, Value: text(&f.NamespaceSeparator), Usage: "percent-encoded separator of namespace levels offered to clients besides %1F, such as %2E for proxies that refuse %1F; levels that contain it cannot be addressed"},
		{Name: "allowed-format-versions", Scope: Serving, Value: text(&f.FormatVersions), Usage: "format versions that tables may have, unless their catalog's property allowed-format-versions says otherwise"},
	}
}

func (c *Config) verifyFacade() error {
	f := c.Facade
	if f.InFlight < 0 || f.PerSecond < 0 {
		return invalid("max-in-flight and rate-limit must be at least 0, which is no limit")
	}
	if f.IdempotencyLifetime != 0 && f.IdempotencyLifetime < time.Second {
		return invalid("idempotency-lifetime is %s: it must be at least 1s, or 0 to offer none", f.IdempotencyLifetime)
	}
	if _, err := c.Separator(); err != nil {
		return err
	}
	_, err := c.FormatVersions()
	return err
}

// Separator gives the namespace separator decoded, "" for no other than the protocol's own.
func (c *Config) Separator() (string, error) {
	raw := c.Facade.NamespaceSeparator
	decoded, err := url.PathUnescape(raw)
	if err != nil || strings.ContainsAny(decoded, "/%\x00") || strings.TrimSpace(decoded) != decoded && decoded != "\x1f" {
		return "", invalid("namespace-separator %q is not a percent-encoded character such as %%2E", raw)
	}
	if decoded == "\x1f" {
		return "", nil
	}
	return decoded, nil
}

// FormatVersions gives the allowed format versions of tables.
func (c *Config) FormatVersions() ([]int, error) {
	var versions []int
	for item := range strings.SplitSeq(c.Facade.FormatVersions, ",") {
		item = strings.TrimSpace(item)
		if len(item) != 1 || item < "1" || item > "3" {
			return nil, invalid("allowed-format-versions %q is not a list such as 1,2,3", c.Facade.FormatVersions)
		}
		versions = append(versions, int(item[0]-'0'))
	}
	return versions, nil
}
