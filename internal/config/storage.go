package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

func (c *Config) storageSettings() []Setting {
	s := &c.Storage
	return []Setting{
		{Name: "warehouse", Value: list(&s.Warehouses), Usage: "where table files may lie: s3://bucket/prefix, file:///folder, or several separated by commas; the first catalog lies in the first (default for serve: the data folder)"},
		{Name: "any-location", Value: boolean(&s.AnyLocation), Usage: "let files of open_full tables lie outside their tables, for a catalog that has such files; dropped tables then hold no location"},
		{Name: "s3-endpoint", Value: text(&s.S3Endpoint), Usage: "URL of an S3-compatible store (default: AWS)"},
		{Name: "s3-region", Value: text(&s.S3Region), Usage: "region of the S3 store"},
		{Name: "s3-access-key", Value: secret(&s.S3AccessKey), Usage: "access key of the S3 store"},
		{Name: "s3-secret-key", Secret: true, Value: secret(&s.S3SecretKey), Usage: "secret key of the S3 store"},
		{Name: "s3-path-style", Value: boolean(&s.S3PathStyle), Usage: "address buckets by path, as most S3-compatible stores want"},
		{Name: "s3-sts-endpoint", Scope: Serving, Value: text(&s.S3STSEndpoint), Usage: "URL of the service that gives temporary keys by AssumeRole (default: s3-endpoint, or AWS's in the region)"},
		{Name: "s3-role-arn", Scope: Serving, Value: text(&s.S3RoleARN), Usage: "role that temporary keys are of, such as arn:aws:iam::123456789012:role/lake; AWS gives none without"},
		{Name: "s3-external-id", Scope: Serving, Value: text(&s.S3ExternalID), Usage: "external id that goes with s3-role-arn"},
		{Name: "s3-sts-unavailable", Scope: Serving, Value: boolean(&s.S3STSUnavailable), Usage: "never ask for temporary keys: the store gives none, and engines have their requests signed"},
		{Name: "credential-lifetime", Scope: Serving, Value: duration(&s.CredentialLifetime), Usage: "lifetime of the keys that engines are given; stores may set a longer one"},
		{Name: "allow-other-storage", Value: boolean(&s.AllowOther), Usage: "let those who administer the installation make catalogs outside the warehouses, in object stores that are reached with keys or a role of their own"},
		{Name: "s3-gateway-ip", Scope: Embedded, Value: text(&s.GatewayIP), Usage: "IP address of the S3 endpoint that serve runs over a local warehouse"},
		{Name: "s3-gateway-port", Scope: Embedded, Value: number(&s.GatewayPort), Usage: "port of the S3 endpoint that serve runs over a local warehouse, 0 for any free one, -1 for none"},
	}
}

func (c *Config) verifyStorage() error {
	s := c.Storage
	for _, w := range s.Warehouses {
		if !isWarehouse(w) {
			return invalid("warehouse %q is neither s3://bucket/prefix, gs://bucket/prefix, abfss://container@account.dfs.core.windows.net/prefix nor file:///folder nor an absolute path", w)
		}
	}
	for _, e := range []struct{ name, url string }{{"s3-endpoint", s.S3Endpoint}, {"s3-sts-endpoint", s.S3STSEndpoint}} {
		if e.url != "" && !isHTTP(e.url) {
			return invalid("%s %q is not a URL such as http://127.0.0.1:8333", e.name, e.url)
		}
	}
	if (s.S3AccessKey == "") != (s.S3SecretKey == "") {
		return invalid("s3-access-key and s3-secret-key belong together: set both or neither")
	}
	if err := verifyRole(s); err != nil {
		return err
	}
	if s.CredentialLifetime < time.Minute {
		return invalid("credential-lifetime is %s: it must be at least 1m", s.CredentialLifetime)
	}
	if ip := net.ParseIP(s.GatewayIP); ip == nil || ip.IsUnspecified() {
		return invalid("s3-gateway-ip %q is not an IP address that engines can reach: they are told it", s.GatewayIP)
	}
	if s.GatewayPort < -1 || s.GatewayPort > 65535 {
		return invalid("s3-gateway-port is %d: it must be from 0 (any free port) to 65535, or -1 for none", s.GatewayPort)
	}
	return nil
}

// isWarehouse tells whether the text has the form of a root; opening it says what else is wrong.
func isWarehouse(text string) bool {
	if filepath.IsAbs(text) {
		return true
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "s3", "gs":
		return u.Host != ""
	case "abfss":
		return u.Host != "" && u.User != nil
	case "file":
		return u.Host == "" && filepath.IsAbs(u.Path)
	}
	return false
}

// verifyRole refuses settings that contradict each other before any engine asks for keys.
func verifyRole(s Storage) error {
	if s.S3RoleARN != "" && !isARN(s.S3RoleARN) {
		return invalid("s3-role-arn %q is not a role such as arn:aws:iam::123456789012:role/lake", s.S3RoleARN)
	}
	if s.S3ExternalID != "" && s.S3RoleARN == "" {
		return invalid("s3-external-id goes with s3-role-arn: set both or neither")
	}
	if s.S3STSUnavailable && (s.S3STSEndpoint != "" || s.S3RoleARN != "") {
		return invalid("s3-sts-unavailable says that nobody gives temporary keys, and s3-sts-endpoint or s3-role-arn that somebody does: set one or the other")
	}
	return nil
}

// isARN tells whether the text has the form of an Amazon resource name, which other stores copy.
func isARN(text string) bool {
	return strings.HasPrefix(text, "arn:") && strings.Count(text, ":") >= 5 && !strings.ContainsAny(text, " \t")
}
