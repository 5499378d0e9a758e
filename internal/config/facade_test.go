package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/config"
)

func TestFacadeSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(*config.Facade)
		says string // "" when it is fine
	}{
		"no keys":                {func(f *config.Facade) { f.IdempotencyLifetime = 0 }, ""},
		"keys for no time":       {func(f *config.Facade) { f.IdempotencyLifetime = time.Millisecond }, "idempotency-lifetime"},
		"a dot":                  {func(f *config.Facade) { f.NamespaceSeparator = "%2E" }, ""},
		"a separator in clear":   {func(f *config.Facade) { f.NamespaceSeparator = "." }, ""},
		"a slash":                {func(f *config.Facade) { f.NamespaceSeparator = "%2F" }, "namespace-separator"},
		"a broken encoding":      {func(f *config.Facade) { f.NamespaceSeparator = "%2" }, "namespace-separator"},
		"a space":                {func(f *config.Facade) { f.NamespaceSeparator = "%20" }, "namespace-separator"},
		"versions with spaces":   {func(f *config.Facade) { f.FormatVersions = "1, 2" }, ""},
		"a version nobody knows": {func(f *config.Facade) { f.FormatVersions = "2,4" }, "allowed-format-versions"},
		"no version":             {func(f *config.Facade) { f.FormatVersions = "" }, "allowed-format-versions"},
		"a negative limit":       {func(f *config.Facade) { f.PerSecond = -1 }, "rate-limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := config.Default()
			c.set(&settings.Facade)
			err := settings.Verify()
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestSeparatorAndVersionsAreDecoded(t *testing.T) {
	t.Parallel()
	c := config.Default()
	for raw, want := range map[string]string{"": "", "%1F": "", "%1f": "", "%2E": ".", "~": "~"} {
		c.Facade.NamespaceSeparator = raw
		got, err := c.Separator()
		require.NoError(t, err)
		assert.Equal(t, want, got, raw)
	}
	c.Facade.FormatVersions = "3, 1"
	versions, err := c.FormatVersions()
	require.NoError(t, err)
	assert.Equal(t, []int{3, 1}, versions)
}
