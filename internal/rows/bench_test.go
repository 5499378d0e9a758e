package rows_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/rows"
)

// plain is a schema as most tables have it.
func plain() *arrow.Schema {
	s := everyType()
	var fields []arrow.Field
	for _, name := range []string{"id", "name", "count", "measure", "price", "tstz", "flag", "day"} {
		fields = append(fields, s.Field(s.FieldIndices(name)[0]))
	}
	return schemaOf(fields...)
}

func BenchmarkRead(b *testing.B) {
	for name, s := range map[string]*arrow.Schema{"plain": plain(), "every type": everyType()} {
		batch := randomBatch(s, newRandom(1), 20_000)
		for _, f := range rows.Formats() {
			body := encode(b, f, s, batch)
			b.Run(name+"/"+string(f), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					r, err := rows.NewReader(bytes.NewReader(body), f, s, rows.ReadOptions{})
					for err == nil {
						var batch *rows.Batch
						if batch, err = r.Next(); err == nil {
							batch.Release()
						}
					}
					if !errors.Is(err, io.EOF) || r.Invalid() > 0 {
						b.Fatal(err, r.Errors())
					}
				}
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, s := range map[string]*arrow.Schema{"plain": plain(), "every type": everyType()} {
		batch := randomBatch(s, newRandom(1), 20_000)
		for _, f := range rows.Formats() {
			b.Run(name+"/"+string(f), func(b *testing.B) {
				b.SetBytes(int64(len(encode(b, f, s, batch))))
				b.ReportAllocs()
				for b.Loop() {
					w, err := rows.NewWriter(io.Discard, f, s)
					if err == nil {
						err = errors.Join(w.Write(batch), w.Close())
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
