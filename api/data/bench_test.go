package data_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkQuery has 100,000 rows answered over a connection.
func BenchmarkQuery(b *testing.B) {
	s := newSite(b)
	s.fill(100_000)
	for name, media := range map[string]string{"lines": ndjson, "Arrow": arrows} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.url+query, strings.NewReader("{}"))
				require.NoError(b, err)
				r.Header.Set("Authorization", "Bearer root")
				r.Header.Set("Accept", media)
				r.Header.Set("Accept-Encoding", "identity")
				answer, err := http.DefaultClient.Do(r)
				require.NoError(b, err)
				n, err := io.Copy(io.Discard, answer.Body)
				require.NoError(b, err)
				require.NoError(b, answer.Body.Close())
				b.SetBytes(n)
			}
			b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
