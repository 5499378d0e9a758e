package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// manyTables is how many tables the namespace has that listings and loads are measured in.
const manyTables = 1_000

// BenchmarkCreate measures creating tables, each with its first metadata file.
func BenchmarkCreate(b *testing.B) {
	onEach(b, func(b *testing.B, at installation) {
		m := startMeter(b, at)
		for range b.N {
			began := time.Now()
			newTable(b, at.client, nil)
			m.add(time.Since(began))
		}
		m.report(b, "creates")
	})
}

// BenchmarkManyTables measures listing 1,000 tables, whole and by pages of 100, and loading one of them after another.
func BenchmarkManyTables(b *testing.B) {
	onEach(b, func(b *testing.B, at installation) {
		names := make([]string, manyTables)
		for i := range names {
			names[i] = newTable(b, at.client, nil).name
		}
		tables := strings.TrimSuffix(at.client.TableURL(namespace, ""), "/")
		b.Run("list=all", func(b *testing.B) { loads(b, at, tables, http.Header{}, false) })
		b.Run("list=page", func(b *testing.B) { loads(b, at, tables+"?pageToken=&pageSize=100", http.Header{}, false) })
		b.Run("load", func(b *testing.B) {
			m := startMeter(b, at)
			for i := range b.N {
				began := time.Now()
				_, err := at.client.LoadTable(b.Context(), namespace, names[i%len(names)])
				require.NoError(b, err)
				m.add(time.Since(began))
			}
			m.report(b, "loads")
		})
	})
}

// BenchmarkContended has 16 engines append to one table at once.
func BenchmarkContended(b *testing.B) {
	onEach(b, func(b *testing.B, at installation) {
		b.Run(fmt.Sprintf("clients=%d/one-table", 16), func(b *testing.B) { commitTogether(b, at, 16) })
	})
}
