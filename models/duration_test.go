package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "1.5h": 90 * time.Minute, "30d": 30 * day, "2w": 14 * day, "1w2d3h": 9*day + 3*time.Hour,
		"0": 0, "0d": 0, "-1h": -time.Hour, "100ms": 100 * time.Millisecond, "106751d": 106751 * day,
	} {
		got, err := models.ParseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "d", "w", "1.5d", "-1d", "+1d", "1d-1h", "1d2w", "1d1d", "5", "soon", "1 d", "106752d", "999999999d", "106751d24h",
		"99999999999999999999d", "1D",
	} {
		_, err := models.ParseDuration(text)
		assert.ErrorContains(t, err, "30d", text)
	}
}
