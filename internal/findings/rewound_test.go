package findings_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

// written is the files that writers of a job leave in folders, one for each checkpoint.
func written(checkpoints int, size int64, writers, folders []string) []findings.NewFile {
	var out []findings.NewFile
	for _, folder := range folders {
		for _, writer := range writers {
			for i := range checkpoints {
				out = append(out, findings.NewFile{Path: fmt.Sprintf("s3://b/t/data/%s/%s-%05d.parquet", folder, writer, i+1), Size: size})
			}
		}
	}
	return out
}

func TestRewound(t *testing.T) {
	one, two := []string{"00000-0-77aa"}, []string{"00000-0-77aa", "00001-0-99cc"}
	here, days := []string{"."}, []string{"day=1", "day=2", "day=3"}
	for _, c := range []struct {
		name    string
		commits string
		files   []findings.NewFile
		want    bool
	}{
		{"restored from an old checkpoint (S1)", "a19 a20 b21", written(5, 900, one, here), true},
		{"with many writers and partitions", "a19 a20 b21", written(2, 900, two, days), true},
		{"of which two came since", "a19 a20 b22", written(3, 900, one, here), true},
		{"restored from the latest", "a19 a20 b21", written(1, 900, one, here), false},
		{"more writers than before", "a19 a20 b21", written(1, 900, two, here), false},
		{"late data of many partitions", "a19 a20 b21", written(1, 900, two, days), false},
		{"checkpoints that failed after the start", "a19 a20 b24", written(4, 900, one, here), false},
		{"catching up, with files that were full in between", "a19 a20 b21", written(5, 200<<20, one, here), false},
		{"not its first commit", "a19 a20 b21 b22", written(5, 900, one, here), false},
		{"the same job", "a19 a20 a21", written(5, 900, one, here), false},
		{"started afresh, and its first checkpoints failed", "a1 a2 b5", written(5, 900, one, here), false},
		{"side by side", "a20 b20 a21 b21 c22", written(5, 900, one, here), false},
		{"the first one of all", "b21", written(5, 900, one, here), false},
		{"names that say nothing", "a19 a20 b21", []findings.NewFile{{Path: "s3://b/t/data/x.parquet", Size: 1}, {Path: "s3://b/t-1/data/y.parquet", Size: 1}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := play(c.commits)
			last := l.rows[len(l.rows)-1]
			f, found := findings.OfRewound(last, l.history(last), c.files)
			require.Equal(t, c.want, found)
			if found {
				assert.Equal(t, models.FindingOffsetRegression, f.Kind)
				assert.Equal(t, []any{"a", "b", "checkpoint/20"}, []any{f.Evidence.V["earlierJob"], f.Evidence.V["job"], f.Evidence.V["earlierUnit"]})
			}
		})
	}
}

// What was rolled back is to be written again; and files of deletes are not told from those of data.
func TestRewoundIsOfAppendsToWhatIsThere(t *testing.T) {
	l := play("a19 a20 b21")
	last, files := l.rows[2], written(5, 900, []string{"00000-0-77aa"}, []string{"."})
	h := l.history(last)
	h.Ancestors = map[int64]bool{1000: false, 1001: false}
	_, found := findings.OfRewound(last, h, files)
	assert.False(t, found)
	_, found = findings.OfRewound(last, l.history(last), files)
	require.True(t, found)
	last.Operation = "overwrite"
	assert.Zero(t, findings.Pieces(last, files))
	last.Operation, last.Summary.V["added-delete-files"] = "append", "2"
	assert.Zero(t, findings.Pieces(last, files))
}
