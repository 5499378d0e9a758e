package scan_test

import (
	"encoding/json"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/scan"
)

// FuzzFilter: whatever is sent as a filter is planned or refused as the client's, and a residual is a filter again.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		`true`, `{"type":"false"}`, `{"type":"eq","term":"s","value":"a"}`, `{"type":"not","child":{"type":"in","term":"i","values":[1,2]}}`,
		`{"type":"and","left":{"type":"lt","left":{"type":"reference","name":"d"},"right":"2020-01-01"},"right":{"type":"is-nan","child":{"type":"reference","id":6}}}`,
		`{"type":"gt","term":{"type":"transform","transform":"truncate[4]","term":"i"},"value":1}`,
		`{"type":"eq","left":{"type":"apply","function":"bucket","arguments":[3,{"type":"reference","name":"id"}]},"right":{"type":"literal","value":1}}`,
		`{"type":"lt","term":"dec","value":"1e10"}`, `{"type":"eq","term":"ts","value":"1970-01-01T00:00:00"}`, `{"type":"in","term":"s","values":[]}`,
		`{"type":"starts-with","term":"s","value":""}`, `{"type":"lt-eq","term":"f","value":1.5}`, `{"type":"or","left":{},"right":[]}`,
		`{"type":"eq","term":{"type":"transform","transform":"bucket[99999999999999999999]","term":"i"},"value":1}`,
	} {
		f.Add([]byte(seed))
	}
	var l *lake
	f.Fuzz(func(t *testing.T, raw []byte) {
		if l == nil {
			l = fuzzLake(t)
		}
		l.t = t
		plan, err := scan.New(l).Plan(t.Context(), l.doc(), scan.Request{Filter: raw})
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid {
				t.Fatalf("%q gives %v", raw, err)
			}
			return
		}
		for _, task := range plan.Tasks {
			if task.Residual == nil {
				continue
			}
			if !json.Valid(task.Residual) {
				t.Fatalf("%q leaves %q", raw, task.Residual)
			}
			if _, err := scan.New(l).Plan(t.Context(), l.doc(), scan.Request{Filter: task.Residual}); err != nil {
				t.Fatalf("%q leaves %q, which gives %v", raw, task.Residual, err)
			}
		}
	})
}

func fuzzLake(t *testing.T) *lake {
	l := newLake(t, 2, worldSchema(), specOf(0,
		iceberg.PartitionField{SourceIDs: []int{3}, FieldID: 1000, Transform: identity, Name: "s"},
		iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1001, Transform: iceberg.BucketTransform{NumBuckets: 3}, Name: "b"},
		iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1002, Transform: iceberg.TruncateTransform{Width: 4}, Name: "t"}))
	rows := []row{{"id": int64(1), "i": int64(1), "s": "a", "d": int64(0), "ts": int64(0), "f": 0.5, "dec": int64(25)}, {"id": int64(1)}}
	l.commit("append", l.manifest(0, l.id(), false,
		data("1", map[int]any{1000: "a", 1001: int32(1), 1002: int32(0)}, 1, statsFrom(t, rows[:1])),
		data("2", map[int]any{1000: nil, 1001: int32(1), 1002: nil}, 1, statsFrom(t, rows[1:]))))
	return l
}
