package tableio_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

func (s *site) append(base *metadata.Document, rows ...string) (int64, error) {
	s.t.Helper()
	in := tableio.Append{Table: s.ident(), Base: base, Summary: map[string]string{"marker": "1"}}
	for _, r := range rows {
		in.Rows = append(in.Rows, s.batch(r))
	}
	return s.io().Append(s.t.Context(), policy.Caller{}, models.Catalog{}, in)
}

func TestAppendsFollowOneAnother(t *testing.T) {
	for version := 1; version <= 3; version++ {
		t.Run("v"+string(rune('0'+version)), func(t *testing.T) {
			s := newSite(t, version, simpleFields, "")
			first, err := s.append(s.doc, `[{"id":1,"name":"a"},{"id":2}]`, `[]`, `[{"id":3,"name":"c"}]`)
			require.NoError(t, err)
			second, err := s.append(s.doc, `[{"id":4,"name":"d"}]`)
			require.NoError(t, err)
			snapshot := s.head()
			require.Equal(t, second, snapshot.ID)
			require.Equal(t, first, *snapshot.ParentID)
			require.Equal(t, "append", snapshot.Operation)
			require.Equal(t, "4", snapshot.Summary["total-records"])
			require.Equal(t, "2", snapshot.Summary["total-data-files"])
			require.Equal(t, "0", snapshot.Summary["total-delete-files"])
			require.Equal(t, "1", snapshot.Summary["added-records"])
			require.Equal(t, "1", snapshot.Summary["marker"])
			require.Len(t, s.paths(), 2+2+2, "data files, manifests and lists")
			require.Equal(t, []string{"1 a", "2 null", "3 c", "4 d"}, s.read())
			if next, counted := s.doc.NextRowID(); counted {
				require.EqualValues(t, 4, next)
			}
		})
	}
}

func TestNothingIsAppendedWithoutRows(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	id, err := s.append(s.doc, `[]`)
	require.NoError(t, err)
	require.Zero(t, id)
	require.Empty(t, s.paths())
	require.Zero(t, s.doc.SnapshotCount())
}

func TestARefusedAppendLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		files int
	}{
		"refused":          {fault.New(fault.Forbidden, "No."), 0},
		"failed":           {errors.New("disk"), 0},
		"of unknown state": {fault.New(fault.UnknownState, "Who knows."), 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 2, simpleFields, "")
			s.refuse = c.err
			_, err := s.append(s.doc, `[{"id":1}]`)
			require.ErrorIs(t, err, c.err)
			require.Len(t, s.paths(), c.files)
		})
	}
}

func TestAnAppendToAnOlderHeadIsAConflict(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	old := s.doc
	_, err := s.append(old, `[{"id":1}]`)
	require.NoError(t, err)
	files := s.paths()
	_, err = s.append(old, `[{"id":2}]`)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Equal(t, files, s.paths())
}

func TestFilesLieWhereTheTableSays(t *testing.T) {
	s := newSite(t, 2, simpleFields, "")
	s.set("write.data.path", "file://"+s.folder+"/t/rows/")
	s.set("write.metadata.path", "file://"+s.folder+"/t/meta")
	s.commit(tableio.Delta{Adds: []*tableio.Written{s.write(tableio.FileOptions{Name: "w1"}, s.batch(`[{"id":1}]`))}})
	for _, path := range s.paths() {
		if strings.HasSuffix(path, ".parquet") {
			require.Equal(t, "rows/w1-00000.parquet", path)
		} else {
			require.True(t, strings.HasPrefix(path, "meta/"), path)
		}
	}
}

func TestTypesThatAreNotWrittenAreRefused(t *testing.T) {
	s := newSite(t, 3, `{"id":1,"name":"v","required":false,"type":"variant"}`, "")
	_, err := s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{})
	require.True(t, fault.Is(err, fault.Unsupported), "%v", err)
	require.ErrorContains(t, err, "Column v")
}

func TestANullInARequiredColumnIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ fields, rows, column string }{
		"a column":          {simpleFields, `[{"id":1},{"name":"b"}]`, "id"},
		"in a struct":       {`{"id":1,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":2,"name":"a","required":true,"type":"int"},{"id":3,"name":"b","required":false,"type":"int"}]}}`, `[{"s":null},{"s":{"a":1}},{"s":{"a":null,"b":1}}]`, "s.a"},
		"in a list":         {`{"id":1,"name":"l","required":false,"type":{"type":"list","element-id":2,"element":"string","element-required":true}}`, `[{"l":null},{"l":[]},{"l":["a"]},{"l":["a",null]}]`, "l.element"},
		"deep in the lists": {`{"id":1,"name":"l","required":false,"type":{"type":"list","element-id":2,"element-required":false,"element":{"type":"struct","fields":[{"id":3,"name":"a","required":true,"type":"int"}]}}}`, `[{"l":[null,{"a":1}]},{"l":[{"a":null}]}]`, "l.element.a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 2, c.fields, "")
			all := s.batch(c.rows)
			w, err := s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Write(all.NewSlice(0, all.NumRows()-1)), "the rows before the last are as they should be")
			err = w.Write(all)
			require.True(t, fault.Is(err, fault.Invalid), "%v", err)
			require.ErrorContains(t, err, "Column "+c.column+" is required and 1 of its values are null")
			_, err = w.Close()
			require.Error(t, err, "what failed is not closed as if it was whole")
			w.Abort()
			require.Empty(t, s.paths())
		})
	}
}

func TestRowsOfAnotherTableAreRefused(t *testing.T) {
	s, other := newSite(t, 2, simpleFields, ""), newSite(t, 2, strings.Replace(simpleFields, `"long"`, `"int"`, 1), "")
	for _, rows := range []arrow.RecordBatch{other.batch(`[{"id":1}]`), newSite(t, 2, `{"id":1,"name":"id","required":true,"type":"long"}`, "").batch(`[{"id":1}]`)} {
		w, err := s.io().NewFileWriter(t.Context(), s.doc, tableio.FileOptions{})
		require.NoError(t, err)
		require.Error(t, w.Write(rows))
		w.Abort()
	}
}
