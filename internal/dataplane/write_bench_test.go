package dataplane_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// BenchmarkWrite writes 200,000 rows of about 110 bytes in JSON; MB/s are of what is sent.
func BenchmarkWrite(b *testing.B) {
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&text, "{\"id\":\"%d\",\"region\":\"%s\",\"note\":\"order %d of a customer who ordered before, to be sent on day %d\"}\n", i, []string{"EU", "US", "APAC"}[i%3], i*7919, i%365)
	}
	for _, format := range []rows.Format{rows.NDJSON, rows.ArrowStream} {
		for _, mode := range []models.WriteMode{models.AppendRows, models.UpsertRows} {
			b.Run(fmt.Sprint(format, " ", mode), func(b *testing.B) {
				l := newWriteLake(b, func(d *dataplane.Deps) { d.Limits.RequestBytes = 1 << 30 })
				body := []byte(text.String())
				if format == rows.ArrowStream {
					l.make(made{name: "source", version: 2})
					l.wrote("source", dataplane.WriteInput{Format: rows.NDJSON, Body: bytes.NewReader(body)})
					g, err := l.query(l.owner(), "source", dataplane.QueryInput{Format: format})
					require.NoError(b, err)
					body = g.body.Bytes()
				}
				b.SetBytes(int64(len(body)))
				n := 0
				for b.Loop() {
					n++
					name := fmt.Sprint("t", n)
					l.make(made{name: name, version: 2, identifier: "1"})
					l.wrote(name, dataplane.WriteInput{Mode: mode, Format: format, Body: bytes.NewReader(body)})
				}
			})
		}
	}
}
