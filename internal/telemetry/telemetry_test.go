package telemetry_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/telemetry"
)

func TestLogFormatAndLevel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options telemetry.LogOptions
		json    bool
		debug   bool
	}{
		"nothing said, no terminal": {json: true},
		"auto":                      {options: telemetry.LogOptions{Level: "info", Format: "auto"}, json: true},
		"text":                      {options: telemetry.LogOptions{Level: "debug", Format: "text"}, debug: true},
		"json":                      {options: telemetry.LogOptions{Level: "debug", Format: "json"}, json: true, debug: true},
		"unknown level":             {options: telemetry.LogOptions{Level: "loud"}, json: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			logger := telemetry.NewLogger(&out, tt.options)
			logger.Debug("hidden")
			assert.Equal(t, tt.debug, out.Len() > 0)
			out.Reset()
			logger.Info("hello", "n", 1)
			assert.Equal(t, tt.json, json.Valid(out.Bytes()), out.String())
			assert.Contains(t, out.String(), "hello")
		})
	}
}

func TestLogToAFileIsJSON(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	telemetry.NewLogger(f, telemetry.LogOptions{}).Warn("careful")
	require.NoError(t, f.Close())
	data, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	assert.True(t, json.Valid(data), string(data))
}

func TestRegistrySaysWhatRuns(t *testing.T) {
	t.Parallel()
	build := telemetry.ReadBuild()
	assert.NotEmpty(t, build.Version)
	assert.Contains(t, build.Go, "go1.")
	// Twice: nothing is registered globally.
	for range 2 {
		families, err := telemetry.NewRegistry(build).Gather()
		require.NoError(t, err)
		names := map[string]bool{}
		for _, f := range families {
			names[f.GetName()] = true
		}
		for _, want := range []string{"sluice_build_info", "go_goroutines", "process_resident_memory_bytes"} {
			assert.True(t, names[want], want)
		}
	}
}
