package config

import (
	"slices"
	"strings"
)

// EnvPrefix starts the name of every environment variable that Sluice reads.
const EnvPrefix = "SLUICE_"

// Value is a setting's value as text; it is what flag packages want of one.
type Value interface {
	String() string
	Set(text string) error
	Type() string
}

// Setting is one knob: its name everywhere, what it does, and the field it sets.
type Setting struct {
	Name   string // of the flag and of the file's key
	Usage  string
	Scope  Scope
	Secret bool // has no flag, because the process list shows flags; its value is never shown
	Value  Value
}

// Scope says which commands a setting matters to.
type Scope int

// The scopes.
const (
	Everywhere Scope = iota
	Embedded         // serve, which brings its own Temporal
	External         // api and worker, which use what runs already
	Serving          // serve and api, which answer engines and people
	Governing        // serve and worker, which govern commits
	Founding         // serve and root create, which make a fresh installation
)

// Matters tells whether the setting matters to a command that takes part in the scopes.
func (s Setting) Matters(scopes ...Scope) bool {
	return s.Scope == Everywhere || slices.Contains(scopes, s.Scope)
}

// Env is the environment variable of the setting.
func (s Setting) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Settings gives every setting, bound to the fields of c.
func (c *Config) Settings() []Setting {
	var all []Setting
	for _, group := range [][]Setting{
		c.generalSettings(), c.databaseSettings(), c.temporalSettings(), c.storageSettings(), c.accessSettings(), c.tuningSettings(), c.facadeSettings(), c.watchSettings(), c.dataSettings(),
	} {
		all = append(all, group...)
	}
	return all
}

func (c *Config) generalSettings() []Setting {
	return []Setting{
		{Name: "data", Value: text(&c.DataDir), Usage: "folder of the embedded database, warehouse, Temporal state and bootstrap.json"},
		{Name: "listen", Value: text(&c.Listen), Usage: "host:port of the HTTP API, port 0 for any free one"},
		{Name: "public-url", Scope: Serving, Value: text(&c.PublicURL), Usage: "base URL under which clients reach the API, such as https://sluice.example.com (default: the listening address)"},
		{Name: "trusted-proxies", Scope: Serving, Value: list(&c.Proxies), Usage: "networks whose X-Forwarded-For is believed, such as 10.0.0.0/8"},
		{Name: "log-level", Value: text(&c.Log.Level), Usage: "debug, info, warn or error"},
		{Name: "log-format", Value: text(&c.Log.Format), Usage: "text, json, or auto: text on a terminal and JSON elsewhere"},
		{Name: "catalog", Scope: Founding, Value: text(&c.Catalog), Usage: "name of the catalog that a fresh installation gets"},
	}
}

func (c *Config) databaseSettings() []Setting {
	return []Setting{
		{Name: "database-url", Value: secret(&c.Database.URL), Usage: "postgres://user@host:port/name; give the password by PGPASSWORD or the whole URL by the variable, because the process list shows flags (default for serve: sluice.db in the data folder)"},
		{Name: "database-max-conns", Value: number(&c.Database.MaxConns), Usage: "open database connections at most"},
		{Name: "migrate", Scope: Embedded, Value: boolean(&c.Database.Migrate), Usage: "let serve bring an older PostgreSQL schema up to date"},
	}
}

func (c *Config) temporalSettings() []Setting {
	t := &c.Temporal
	return []Setting{
		{Name: "temporal-port", Scope: Embedded, Value: number(&t.Port), Usage: "port of the embedded Temporal server, 0 for any free one"},
		{Name: "ui-port", Scope: Embedded, Value: number(&t.UIPort), Usage: "port of the embedded Temporal Web UI, 0 for any free one"},
		{Name: "temporal-ip", Scope: Embedded, Value: text(&t.IP), Usage: "IP address of the embedded Temporal server and its UI; neither asks who is calling"},
		{Name: "temporal-address", Scope: External, Value: text(&t.Address), Usage: "host:port of the external Temporal of api and worker"},
		{Name: "temporal-namespace", Value: text(&t.Namespace), Usage: "Temporal namespace"},
		{Name: "temporal-retention", Scope: Governing, Value: duration(&t.Retention), Usage: "how long closed workflows are kept, set when the namespace is made"},
		{Name: "temporal-api-key", Scope: External, Secret: true, Value: secret(&t.APIKey), Usage: "API key of the external Temporal; implies TLS"},
		{Name: "temporal-tls", Scope: External, Value: boolean(&t.TLS), Usage: "reach the external Temporal by TLS"},
		{Name: "temporal-tls-ca", Scope: External, Value: text(&t.TLSCA), Usage: "PEM file of the authorities that Temporal's certificate is checked against (default: the system's)"},
		{Name: "temporal-tls-cert", Scope: External, Value: text(&t.TLSCert), Usage: "PEM file of the client certificate for Temporal"},
		{Name: "temporal-tls-key", Scope: External, Value: text(&t.TLSKey), Usage: "PEM file of the client certificate's key"},
		{Name: "temporal-tls-server-name", Scope: External, Value: text(&t.TLSServerName), Usage: "name expected in Temporal's certificate (default: the host of its address)"},
		{Name: "temporal-ui-url", Scope: External, Value: text(&t.UIURL), Usage: "base URL of the external Temporal's Web UI, whose pages may have payloads decoded here"},
		{Name: "temporal-encrypt-payloads", Value: boolean(&t.EncryptPayloads), Usage: "encrypt what workflows are given and answer, under encryption-keys"},
	}
}

func (c *Config) accessSettings() []Setting {
	t := &c.Tokens
	return []Setting{
		{Name: "encryption-keys", Secret: true, Value: secret(&c.EncryptionKeys), Usage: "what secrets are encrypted with at rest, as id:base64 of 32 bytes, several separated by commas: the first encrypts, all decrypt (default for serve: encryption.key in the data folder)"},
		{Name: "access-token-lifetime", Scope: Serving, Value: duration(&t.Access), Usage: "lifetime of OAuth access tokens"},
		{Name: "engine-token-lifetime", Scope: Serving, Value: duration(&t.Engine), Usage: "lifetime of engine tokens minted without one, 0 for no end"},
		{Name: "secret-overlap", Scope: Serving, Value: duration(&t.SecretOverlap), Usage: "how long the client secret before a rotation stays good"},
		{Name: "signing-key-lifetime", Scope: Serving, Value: duration(&t.SigningKey), Usage: "how long one key signs access tokens"},
		{Name: "token-issuer", Scope: Serving, Value: text(&t.Issuer), Usage: "issuer that access tokens name; the same in every process of an installation"},
		{Name: "oidc-file", Scope: Serving, Value: text(&t.OIDCFile), Usage: "YAML file of the OpenID Connect issuers whose tokens are accepted"},
	}
}

func (c *Config) tuningSettings() []Setting {
	return []Setting{
		{Name: "body-limit", Scope: Serving, Value: size(&c.Limits.Body), Usage: "largest request body, such as 64MiB"},
		{Name: "reserved-prefix", Value: text(&c.ReservedPrefix), Usage: "prefix of table properties that only Sluice sets"},
		{Name: "sweep-interval", Scope: Governing, Value: duration(&c.SweepInterval), Usage: "time between two sweeps for commits that no event announced"},
		{Name: "file-check-interval", Scope: Governing, Value: duration(&c.CheckInterval), Usage: "time between two checks whether the files of tables are still what was committed"},
		{Name: "drop-grace-period", Scope: Serving, Value: duration(&c.Drops.Grace), Usage: "how long a dropped table can be undropped before its files may be deleted"},
		{Name: "purge-dropped-tables", Scope: Serving, Value: boolean(&c.Drops.PurgeAll), Usage: "delete the files of every dropped table after the grace period, not only where a purge was asked for"},
		{Name: "dispatch-poll", Scope: Governing, Value: duration(&c.Dispatch.PollInterval), Usage: "how often the outbox is read when nothing wakes the dispatcher"},
		{Name: "dispatch-batch-after", Scope: Governing, Value: number(&c.Dispatch.BatchAfter), Usage: "backlog of commits from which they are reconciled in batches"},
		{Name: "dispatch-batch-size", Scope: Governing, Value: number(&c.Dispatch.BatchSize), Usage: "commits per batch"},
	}
}
