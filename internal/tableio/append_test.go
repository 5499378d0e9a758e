package tableio_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// site is files in memory and a catalog of one table that applies commits or refuses them.
type site struct {
	files  map[string][]byte
	doc    *metadata.Document
	refuse error
}

func (s *site) ReadFile(_ context.Context, location string) ([]byte, error) {
	data, ok := s.files[location]
	if !ok {
		return nil, fault.About(fault.NotFound, fault.File, "There is no %s.", location)
	}
	return data, nil
}

func (s *site) CreateFile(_ context.Context, location string, data []byte) error {
	if _, taken := s.files[location]; taken {
		return fault.New(fault.AlreadyExists, "There is a %s.", location)
	}
	s.files[location] = data
	return nil
}

func (s *site) DeleteFile(_ context.Context, location string) error {
	delete(s.files, location)
	return nil
}

func (s *site) CommitTable(_ context.Context, _ policy.Caller, _ models.Catalog, in catalog.CommitInput) (catalog.TableView, error) {
	if s.refuse != nil {
		return catalog.TableView{}, s.refuse
	}
	if err := metadata.Check(s.doc, in.Requirements); err != nil {
		return catalog.TableView{}, err
	}
	result, err := metadata.Apply(s.doc, in.Updates, metadata.ApplyOptions{Now: time.Now()})
	if err == nil {
		s.doc = result.Document
	}
	return catalog.TableView{Document: s.doc}, err
}

func newSite(t *testing.T, version string, kind string) *site {
	t.Helper()
	schema := `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"` + kind + `"},{"id":2,"name":"name","required":false,"type":"string"}]}`
	doc, err := metadata.New(metadata.CreateInput{
		UUID: "0b8c5d1e-0000-4000-8000-000000000001", Location: "s3://lake/t", Schema: json.RawMessage(schema),
		Properties: map[string]string{"format-version": version}, Now: time.Now(),
	})
	require.NoError(t, err)
	return &site{files: map[string][]byte{}, doc: doc}
}

func batch(t *testing.T, doc *metadata.Document, names ...string) arrow.RecordBatch {
	t.Helper()
	schema, err := tableio.Schema(doc)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i, name := range names {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(name)
	}
	return b.NewRecordBatch()
}

func (s *site) append(t *testing.T, base *metadata.Document, batches ...arrow.RecordBatch) (int64, error) {
	t.Helper()
	in := tableio.Append{Table: models.TableIdent{Namespace: []string{"db"}, Name: "t"}, Base: base, Summary: map[string]string{"marker": "1"}}
	for _, b := range batches {
		in.Parts = append(in.Parts, tableio.Part{Rows: b})
	}
	return tableio.NewAppender(s, s, time.Now).Append(t.Context(), policy.Caller{}, models.Catalog{}, in)
}

func TestAppendsFollowOneAnother(t *testing.T) {
	for _, version := range []string{"1", "2", "3"} {
		t.Run("v"+version, func(t *testing.T) {
			s := newSite(t, version, "long")
			first, err := s.append(t, s.doc, batch(t, s.doc, "a", "b"), batch(t, s.doc), batch(t, s.doc, "c"))
			require.NoError(t, err)
			second, err := s.append(t, s.doc, batch(t, s.doc, "d"))
			require.NoError(t, err)
			head, _ := s.doc.CurrentSnapshotID()
			require.Equal(t, second, head)
			snapshot, _ := s.doc.Snapshot(head)
			require.Equal(t, first, *snapshot.ParentID)
			require.Equal(t, "append", snapshot.Operation)
			require.Equal(t, "4", snapshot.Summary["total-records"])
			require.Equal(t, "3", snapshot.Summary["total-data-files"], "a part without rows is no file")
			require.Equal(t, "1", snapshot.Summary["added-records"])
			require.Equal(t, "1", snapshot.Summary["marker"])
			require.Len(t, s.files, 3+2+2, "data files, manifests and lists")
			if next, counted := s.doc.NextRowID(); counted {
				require.EqualValues(t, 4, next)
			}
		})
	}
}

func TestNothingIsAppendedWithoutRows(t *testing.T) {
	s := newSite(t, "2", "long")
	id, err := s.append(t, s.doc, batch(t, s.doc))
	require.NoError(t, err)
	require.Zero(t, id)
	require.Empty(t, s.files)
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
			s := newSite(t, "2", "long")
			s.refuse = c.err
			_, err := s.append(t, s.doc, batch(t, s.doc, "a"))
			require.ErrorIs(t, err, c.err)
			require.Len(t, s.files, c.files)
		})
	}
}

func TestAnAppendToAnOlderHeadIsAConflict(t *testing.T) {
	s := newSite(t, "2", "long")
	old := s.doc
	_, err := s.append(t, old, batch(t, old, "a"))
	require.NoError(t, err)
	files := len(s.files)
	_, err = s.append(t, old, batch(t, old, "b"))
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Len(t, s.files, files)
}

func TestFilesLieWhereTheTableSays(t *testing.T) {
	s := newSite(t, "2", "long")
	updates, err := metadata.DecodeUpdates([]json.RawMessage{json.RawMessage(
		`{"action":"set-properties","updates":{"write.data.path":"s3://lake/t/rows/","write.metadata.path":"s3://lake/t/meta"}}`)})
	require.NoError(t, err)
	result, err := metadata.Apply(s.doc, updates, metadata.ApplyOptions{Now: time.Now()})
	require.NoError(t, err)
	s.doc = result.Document
	_, err = s.append(t, s.doc, batch(t, s.doc, "a"))
	require.NoError(t, err)
	for location := range s.files {
		if strings.HasSuffix(location, ".parquet") {
			require.True(t, strings.HasPrefix(location, "s3://lake/t/rows/00000-0-"), location)
		} else {
			require.True(t, strings.HasPrefix(location, "s3://lake/t/meta/"), location)
		}
	}
}

func TestTypesThatAreNotWrittenAreRefused(t *testing.T) {
	_, err := tableio.Schema(newSite(t, "2", "fixed[4]").doc)
	require.True(t, fault.Is(err, fault.Unsupported), "%v", err)
	require.ErrorContains(t, err, "Column id")
}
