package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
)

// BenchmarkStart measures the time from a process's start until it serves, on a fresh folder and on a used one, and the
// memory that it then takes at rest.
func BenchmarkStart(b *testing.B) {
	b.Run("serve=fresh", func(b *testing.B) {
		starts(b, func() string { return filepath.Join(b.TempDir(), "data") })
	})
	b.Run("serve=again", func(b *testing.B) {
		folder := filepath.Join(b.TempDir(), "data")
		starts(b, func() string { return folder })
	})
	b.Run("api", func(b *testing.B) {
		folder := b.TempDir()
		programs := &product.External{
			Binary: binary, Folder: folder, DatabaseURL: "sqlite://" + filepath.Join(folder, "sluice.db"), TemporalAddress: "127.0.0.1:1",
		}
		require.NoError(b, programs.Prepare(b.Context()))
		b.ResetTimer()
		for i := range b.N {
			p, _, err := programs.API(b.Context())
			require.NoError(b, err)
			b.StopTimer()
			end(b, p, i)
			b.StartTimer()
		}
	})
}

func starts(b *testing.B, folder func() string) {
	for i := range b.N {
		b.StopTimer()
		at := folder()
		b.StartTimer()
		p, err := product.Serve(binary, at, filepath.Join(b.TempDir(), "serve.log"), nil)
		require.NoError(b, err)
		_, err = p.Ready(b.Context(), at)
		require.NoError(b, err)
		b.StopTimer()
		end(b, p, i)
		b.StartTimer()
	}
}

// end stops a process, after a look at the memory of the first one at rest.
func end(b *testing.B, p *product.Process, i int) {
	b.Helper()
	if i == 0 {
		time.Sleep(5 * time.Second)
		b.ReportMetric(memory(p.PID()), "idle-MB")
	}
	require.NoError(b, p.Stop(stopWithin))
}
