package rows_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// FuzzReadJSON: no text makes the reader panic, and what it takes reads back as the same.
func FuzzReadJSON(f *testing.F) {
	s := everyType()
	f.Add(encode(f, rows.JSON, s, randomBatch(s, newRandom(1), 3)), false)
	f.Add(encode(f, rows.NDJSON, s, randomBatch(s, newRandom(2), 3)), true)
	f.Add([]byte(`[{"id":1,"tags":["a",null],"address":{"city":"\ud800"},"attributes":[{"key":"a","key":"b"}]}]`), false)
	f.Add([]byte("{\"id\":1e2,\"price\":\"1.\"}\n{\"id\":\"\\u0031\",\"name\":\"\xff\"}\n[]]"), true)
	f.Fuzz(func(t *testing.T, body []byte, lines bool) {
		format := rows.JSON
		if lines {
			format = rows.NDJSON
		}
		checkFuzzed(t, body, format)
	})
}

// FuzzReadArrow: likewise for Arrow streams.
func FuzzReadArrow(f *testing.F) {
	s := everyType()
	batch := randomBatch(s, newRandom(1), 5)
	f.Add(encode(f, rows.ArrowStream, s, batch))
	f.Add(streamOf(f, []arrow.RecordBatch{batch}, ipc.WithZstd()))
	f.Add(streamOf(f, []arrow.RecordBatch{batch}, ipc.WithLZ4()))
	f.Add(streamOf(f, []arrow.RecordBatch{peopleBatch(f, `[1, null]`, `["a", null]`)}))
	f.Add(dagSchema())
	f.Fuzz(func(t *testing.T, body []byte) { checkFuzzed(t, body, rows.ArrowStream) })
}

func checkFuzzed(t *testing.T, body []byte, format rows.Format) {
	s := everyType()
	o := rows.ReadOptions{BatchRows: 3, RowBytes: 4 << 10, MessageBytes: 1 << 20, KeepText: true}
	r, err := rows.NewReader(bytes.NewReader(body), format, s, o)
	var taken []*rows.Batch
	if err == nil {
		taken, err = readAll(t, r)
	}
	if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.TooLarge) {
		t.Fatalf("an error of the kind %s: %v", fault.CodeOf(err), err)
	}
	text := rowsAs(t, s, taken)
	again, err := readAll(t, mustReader(t, []byte(text), rows.NDJSON, s, rows.ReadOptions{RowBytes: 1 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	if second := rowsAs(t, s, again); second != text {
		t.Fatalf("what was taken is\n%s\nand reads back as\n%s", text, second)
	}
	for _, b := range taken {
		for i := range b.Numbers {
			b.Text(i)
		}
	}
}
