package dataplane_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// discard is a client that takes everything at once.
type discard struct{ bytes int64 }

// Begin implements dataplane.Sink.
func (d *discard) Begin(dataplane.Head) (io.Writer, error) { return d, nil }

func (d *discard) Write(p []byte) (int, error) { d.bytes += int64(len(p)); return len(p), nil }

// BenchmarkQuery streams a table of 200,000 rows, once to who sees all of it and once to who sees masks.
func BenchmarkQuery(b *testing.B) {
	l := newReadLake(b)
	l.create("people", people)
	l.many("people", 200_000, 50_000)
	l.govern("people", models.Internal, []string{"id"}, map[string]models.ColumnGovernance{
		"email": {Sensitivity: models.Restricted, Tag: "email"}, "salary": {Sensitivity: models.Restricted},
	})
	for _, format := range []rows.Format{rows.NDJSON, rows.ArrowStream} {
		for name, caller := range map[string]func(...string) policy.Caller{"whole": l.owner, "masked": l.analyst} {
			b.Run(string(format)+"/"+name, func(b *testing.B) {
				for range b.N {
					out := &discard{}
					require.NoError(b, l.data.Query(b.Context(), caller(), "main.sales.people", dataplane.QueryInput{Format: format}, out))
					b.SetBytes(out.bytes)
				}
				b.ReportMetric(200_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
