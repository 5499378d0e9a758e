package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

const stopWithin = 15 * time.Second

// installation is a running server and how to measure it.
type installation struct {
	client   *product.Client
	process  *product.Process
	database int            // the database server's process, 0 when it is in the process
	parts    map[string]int // further processes by name
}

// onEach runs a benchmark against `sluice api` on SQLite and on PostgreSQL, each on a fresh folder.
func onEach(b *testing.B, f func(b *testing.B, at installation)) {
	b.Run("db=sqlite", func(b *testing.B) {
		folder := b.TempDir()
		f(b, startAPI(b, folder, "sqlite://"+filepath.Join(folder, "sluice.db"), 0))
	})
	b.Run("db=postgres", func(b *testing.B) {
		if postgres == nil {
			b.Skip("PostgreSQL is not installed")
		}
		f(b, startAPI(b, b.TempDir(), pgtest.Database(b), postgres.PID()))
	})
}

// startAPI starts an api without a worker: commits only, their governance is not part of what is measured.
func startAPI(b *testing.B, folder, url string, database int) installation {
	b.Helper()
	programs := &product.External{Binary: binary, Folder: folder, DatabaseURL: url, TemporalAddress: "127.0.0.1:1"}
	require.NoError(b, programs.Prepare(b.Context()))
	p, c, err := programs.API(b.Context())
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, p.Stop(stopWithin)) })
	return prepared(b, installation{client: c, process: p, database: database})
}

// startServe starts everything in one process.
func startServe(b *testing.B) installation {
	b.Helper()
	folder := filepath.Join(b.TempDir(), "data")
	p, err := product.Serve(binary, folder, filepath.Join(filepath.Dir(folder), "serve.log"), nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, p.Stop(stopWithin)) })
	c, err := p.Ready(b.Context(), folder)
	require.NoError(b, err)
	return prepared(b, installation{client: c, process: p})
}

const namespace = "bench"

func prepared(b *testing.B, at installation) installation {
	b.Helper()
	require.NoError(b, at.client.SetDefaultPolicy(b.Context(), "open_append"))
	require.NoError(b, at.client.CreateNamespace(b.Context(), namespace))
	return at
}
