package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/fault"
)

func fill(t *testing.T, c *config.Config, env map[string]string, file string, flags ...string) (map[string]config.Source, error) {
	t.Helper()
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "sluice.yaml")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	}
	return c.Fill(config.Sources{
		File:      path,
		LookupEnv: func(k string) (string, bool) { v, ok := env[k]; return v, ok },
		FlagGiven: func(name string) bool {
			for _, f := range flags {
				if f == name {
					return true
				}
			}
			return false
		},
	})
}

func TestDefaultsAreUsable(t *testing.T) {
	t.Parallel()
	assert.NoError(t, config.Default().Verify())
}

func TestFlagBeatsEnvironmentBeatsFileBeatsDefault(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Listen = "127.0.0.1:1" // as a flag sets it
	env := map[string]string{"SLUICE_LISTEN": "127.0.0.1:2", "SLUICE_UI_PORT": "2"}
	file := "listen: 127.0.0.1:3\nui-port: 3\ntemporal-port: 3\n"
	sources, err := fill(t, c, env, file, "listen")
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:1", c.Listen)
	assert.Equal(t, 2, c.Temporal.UIPort)
	assert.Equal(t, 3, c.Temporal.Port)
	assert.Equal(t, "sluice-data", c.DataDir)
	assert.Equal(t, config.FromFlag, sources["listen"])
	assert.Equal(t, config.FromEnvironment, sources["ui-port"])
	assert.Equal(t, config.FromFile, sources["temporal-port"])
	assert.Equal(t, config.FromDefault, sources["data"])
}

func TestFileTakesListsSizesAndDurations(t *testing.T) {
	t.Parallel()
	c := config.Default()
	_, err := fill(t, c, nil, "warehouse: [s3://a/x, s3://b]\nbody-limit: 1GiB\nsweep-interval: 90s\nmigrate: true\ndatabase-url: postgres://u:pw@h/d\n")
	require.NoError(t, err)
	require.NoError(t, c.Verify())
	assert.Equal(t, []string{"s3://a/x", "s3://b"}, c.Storage.Warehouses)
	assert.Equal(t, config.Bytes(1<<30), c.Limits.Body)
	assert.Equal(t, 90*time.Second, c.SweepInterval)
	assert.True(t, c.Database.Migrate)
	assert.Equal(t, "postgres://u:pw@h/d", c.Database.URL.Reveal())
}

func TestWrongInputsAreNamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  map[string]string
		file string
		want []string
	}{
		"unknown key in the file":  {file: "lisen: 1\n", want: []string{"lisen", "unknown"}},
		"not a map":                {file: "- a\n", want: []string{"not a YAML map"}},
		"nested value":             {file: "listen: {a: b}\n", want: []string{"listen"}},
		"wrong number in the file": {file: "ui-port: many\n", want: []string{"ui-port", "many"}},
		"wrong environment":        {env: map[string]string{"SLUICE_MIGRATE": "perhaps"}, want: []string{"SLUICE_MIGRATE", "perhaps"}},
		"wrong duration":           {env: map[string]string{"SLUICE_SWEEP_INTERVAL": "5"}, want: []string{"SLUICE_SWEEP_INTERVAL", "30s"}},
		"wrong size":               {env: map[string]string{"SLUICE_BODY_LIMIT": "5 apples"}, want: []string{"SLUICE_BODY_LIMIT", "64MiB"}},
		"size beyond all measure":  {env: map[string]string{"SLUICE_BODY_LIMIT": "9223372036854775807GiB"}, want: []string{"SLUICE_BODY_LIMIT"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fill(t, config.Default(), tt.env, tt.file)
			require.Error(t, err)
			assert.True(t, fault.Is(err, fault.Invalid))
			for _, want := range tt.want {
				assert.Contains(t, err.Error(), want)
			}
		})
	}
}

func TestCatalogsThatNobodyCouldAddressAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "v1", "namespaces", "a.b", "a/b", "a b"} {
		c := config.Default()
		c.Catalog = name
		assert.ErrorContains(t, c.Verify(), "catalog", name)
	}
	c := config.Default()
	c.Catalog = "v1-lake"
	assert.NoError(t, c.Verify())
}

func TestDurationsTakeDaysAndWeeks(t *testing.T) {
	t.Parallel()
	c := config.Default()
	_, err := fill(t, c, map[string]string{"SLUICE_DROP_GRACE_PERIOD": "2w"}, "engine-token-lifetime: 30d\n")
	require.NoError(t, err)
	assert.Equal(t, 14*24*time.Hour, c.Drops.Grace)
	assert.Equal(t, 30*24*time.Hour, c.Tokens.Engine)
}

func TestMissingFileIsNamed(t *testing.T) {
	t.Parallel()
	_, err := config.Default().Fill(config.Sources{
		File: "absent.yaml", LookupEnv: func(string) (string, bool) { return "", false }, FlagGiven: func(string) bool { return false },
	})
	assert.ErrorContains(t, err, "absent.yaml does not exist")
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	for setting, values := range map[string][]string{
		"data":                  {""},
		"listen":                {"", "8181", "localhost", "127.0.0.1:99999", "127.0.0.1:http"},
		"public-url":            {"sluice.example.com", "ftp://x"},
		"log-level":             {"loud", ""},
		"log-format":            {"xml"},
		"catalog":               {"", "a.b", "a/b", "a b"},
		"database-url":          {"mysql://h/d", "::"},
		"database-max-conns":    {"0"},
		"temporal-port":         {"-1", "65536"},
		"ui-port":               {"-1", "65536"},
		"temporal-ip":           {"localhost", ""},
		"temporal-address":      {"temporal"},
		"temporal-namespace":    {""},
		"temporal-retention":    {"1h"},
		"temporal-tls-cert":     {"client.pem"},
		"temporal-tls-key":      {"client.key"},
		"trusted-proxies":       {"10.0.0.1", "everyone"},
		"warehouse":             {"relative/folder", "gopher://x", "s3:///nobucket", "file://host/folder"},
		"s3-endpoint":           {"127.0.0.1:9000"},
		"s3-sts-endpoint":       {"127.0.0.1:9000", "ftp://sts"},
		"s3-role-arn":           {"lake", "arn:aws:iam", "arn:aws:iam::1:role/a b"},
		"s3-external-id":        {"alone"},
		"credential-lifetime":   {"59s", "0", "-1h"},
		"s3-gateway-port":       {"-2", "65536"},
		"s3-gateway-ip":         {"localhost", "0.0.0.0", "::"},
		"s3-access-key":         {"alone"},
		"s3-secret-key":         {"alone"},
		"body-limit":            {"1"},
		"reserved-prefix":       {"", "sluice"},
		"sweep-interval":        {"0s"},
		"writer-watch-interval": {"0s"},
		"stalled-writer-factor": {"0", "-1"},
		"snapshot-rate-limit":   {"0"},
		"removed-file-memory":   {"1m"},
		"audit-retention":       {"1h", "-1h"},
		"audit-export-interval": {"-1m"},
		"webhook-give-up":       {"1s"},
		"dispatch-poll":         {"0s"},
		"dispatch-batch-after":  {"0"},
		"dispatch-batch-size":   {"0"},
		"access-token-lifetime": {"1s"},
		"engine-token-lifetime": {"-1h"},
	} {
		for _, value := range values {
			c := config.Default()
			require.NoError(t, settingOf(t, c, setting).Value.Set(value), "%s=%s", setting, value)
			err := c.Verify()
			require.Error(t, err, "%s=%q was accepted", setting, value)
			assert.Contains(t, err.Error(), setting, "the message does not name the setting")
		}
	}
}

func TestVerifyAccepts(t *testing.T) {
	t.Parallel()
	for setting, values := range map[string][]string{
		"listen":       {":8181", "[::1]:0", "sluice.example.com:443"},
		"warehouse":    {"s3://bucket", "s3://bucket/prefix/", "file:///data", "/data", "s3://a, /b", "gs://b/x", "abfss://c@acct.dfs.core.windows.net/x"},
		"database-url": {"postgres://u:p@h:5432/d?sslmode=disable", "postgresql://h/d", "sqlite:///data/x.db"},

		"s3-sts-endpoint":     {"http://127.0.0.1:9000"},
		"s3-role-arn":         {"arn:aws:iam::123456789012:role/lake", "arn:aws-cn:iam::1:role/x"},
		"credential-lifetime": {"1m", "12h"},
		"s3-gateway-port":     {"-1", "0", "9000"},
		"s3-gateway-ip":       {"::1", "192.0.2.7"},
	} {
		for _, value := range values {
			c := config.Default()
			require.NoError(t, settingOf(t, c, setting).Value.Set(value))
			assert.NoError(t, c.Verify(), "%s=%s", setting, value)
		}
	}
}

func settingOf(t *testing.T, c *config.Config, name string) config.Setting {
	t.Helper()
	for _, s := range c.Settings() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no setting %s", name)
	return config.Setting{}
}

// TestEveryFieldIsOneSetting keeps the struct and its documentation from parting.
func TestEveryFieldIsOneSetting(t *testing.T) {
	t.Parallel()
	c := config.Default()
	names := map[string]bool{}
	for _, s := range c.Settings() {
		assert.False(t, names[s.Name], "%s is there twice", s.Name)
		names[s.Name] = true
		assert.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, s.Name)
		assert.NotEmpty(t, s.Usage, s.Name)
		assert.Equal(t, "SLUICE_"+strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")), s.Env())
		before := fmt.Sprintf("%#v", snapshot(c))
		require.NoError(t, s.Value.Set(other(s)), s.Name)
		assert.NotEqual(t, before, fmt.Sprintf("%#v", snapshot(c)), "%s sets nothing", s.Name)
	}
	assert.Equal(t, countFields(reflect.TypeFor[config.Config]()), len(names), "a field of Config has no setting, or a setting no field")
}

// other gives a text the setting does not have by default.
func other(s config.Setting) string {
	return map[string]string{"int": "17", "bool": "true", "duration": "17h", "bytes": "17KiB"}[s.Value.Type()] + map[string]string{
		"string": "other", "secret": "other", "list": "other",
	}[s.Value.Type()]
}

// snapshot copies the fields with secrets revealed, so that a change of one shows.
func snapshot(c *config.Config) []any {
	return []any{*c, c.Database.URL.Reveal(), c.Temporal.APIKey.Reveal(), c.Storage.S3SecretKey.Reveal()}
}

func countFields(t reflect.Type) int {
	n := 0
	for i := range t.NumField() {
		if f := t.Field(i).Type; f.Kind() == reflect.Struct {
			n += countFields(f)
		} else {
			n++
		}
	}
	return n
}

func TestSecretsNeverPrint(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Database.URL = "postgres://u:hunter2@h/d"
	c.Temporal.APIKey, c.Storage.S3SecretKey = "hunter2", "hunter2"
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("config", "config", c, "key", c.Temporal.APIKey)
	slog.New(slog.NewTextHandler(&log, nil)).Info("config", "config", c, "key", c.Temporal.APIKey)
	asJSON, err := json.Marshal(c)
	require.NoError(t, err)
	shown := log.String() + string(asJSON) + fmt.Sprintf("%v %+v %#v %s %q", *c, *c, *c, c.Temporal.APIKey, c.Temporal.APIKey)
	for _, s := range c.Settings() {
		shown += s.Value.String()
	}
	c.Database.URL = "://hunter2"
	shown += c.Verify().Error()
	assert.NotContains(t, shown, "hunter2")
	assert.Contains(t, shown, "[redacted]")
}

func TestTheStoreGivesKeysOrNot(t *testing.T) {
	t.Parallel()
	for setting, value := range map[string]string{"s3-sts-endpoint": "http://127.0.0.1:9000", "s3-role-arn": "arn:aws:iam::1:role/x"} {
		c := config.Default()
		require.NoError(t, settingOf(t, c, "s3-sts-unavailable").Value.Set("true"))
		require.NoError(t, c.Verify())
		require.NoError(t, settingOf(t, c, setting).Value.Set(value))
		assert.ErrorContains(t, c.Verify(), "s3-sts-unavailable")
	}
}
