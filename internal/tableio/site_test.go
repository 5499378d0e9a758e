package tableio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// site is a table in a folder, and the core that commits to it: it applies commits, or refuses them.
type site struct {
	*objects.Router
	t      testing.TB
	folder string
	doc    *metadata.Document
	refuse error
}

const simpleFields = `{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"name","required":false,"type":"string"}`

// newSite makes a table; spec is the JSON of its partition fields.
func newSite(t testing.TB, version int, fields, spec string) *site {
	t.Helper()
	s := &site{t: t, folder: t.TempDir()}
	var err error
	s.Router, err = objects.Open(t.Context(), objects.Config{Roots: []string{"file://" + s.folder}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	s.doc, err = metadata.New(metadata.CreateInput{
		UUID: "0b8c5d1e-0000-4000-8000-000000000001", Location: "file://" + s.folder + "/t",
		Schema:        json.RawMessage(`{"type":"struct","schema-id":0,"fields":[` + fields + `]}`),
		PartitionSpec: json.RawMessage(`{"spec-id":0,"fields":[` + spec + `]}`),
		Properties:    map[string]string{"format-version": fmt.Sprint(version)}, Now: time.Now(),
	})
	require.NoError(t, err)
	return s
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

func (s *site) io() *tableio.IO { return tableio.New(s, s, time.Now) }

// apply changes the metadata as a commit of an engine does.
func (s *site) apply(updates ...string) {
	s.t.Helper()
	raw := make([]json.RawMessage, len(updates))
	for i, u := range updates {
		raw[i] = json.RawMessage(u)
	}
	decoded, err := metadata.DecodeUpdates(raw)
	require.NoError(s.t, err)
	result, err := metadata.Apply(s.doc, decoded, metadata.ApplyOptions{Now: time.Now()})
	require.NoError(s.t, err)
	s.doc = result.Document
}

func (s *site) set(property, value string) {
	s.t.Helper()
	raw, err := json.Marshal(map[string]string{property: value})
	require.NoError(s.t, err)
	s.apply(`{"action":"set-properties","updates":` + string(raw) + `}`)
}

// batch makes rows of the table's schema from their JSON, as Arrow reads it.
func (s *site) batch(rows string) arrow.RecordBatch {
	s.t.Helper()
	schema, err := tableio.Schema(s.doc)
	require.NoError(s.t, err)
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(s.t, err)
	return b
}

func (s *site) ident() models.TableIdent {
	return models.TableIdent{Namespace: []string{"db"}, Name: "t"}
}

// write writes rows into data files.
func (s *site) write(o tableio.FileOptions, batches ...arrow.RecordBatch) *tableio.Written {
	s.t.Helper()
	w, err := s.io().NewFileWriter(s.t.Context(), s.doc, o)
	require.NoError(s.t, err)
	for _, b := range batches {
		require.NoError(s.t, w.Write(b))
	}
	written, err := w.Close()
	require.NoError(s.t, err)
	return written
}

// commit stages a change and commits it.
func (s *site) commit(d tableio.Delta) *tableio.Staged {
	s.t.Helper()
	d.Table, d.Base = s.ident(), s.doc
	staged, err := s.io().Stage(s.t.Context(), d)
	require.NoError(s.t, err)
	_, err = s.CommitTable(s.t.Context(), policy.Caller{}, models.Catalog{}, staged.Input)
	require.NoError(s.t, err)
	return staged
}

// paths are the files in the table's folder.
func (s *site) paths() []string {
	s.t.Helper()
	var out []string
	err := filepath.WalkDir(s.folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, s.folder+"/t/"))
		}
		return err
	})
	require.NoError(s.t, err)
	return out
}

func (s *site) head() metadata.Snapshot {
	s.t.Helper()
	id, ok := s.doc.CurrentSnapshotID()
	require.True(s.t, ok)
	snapshot, ok := s.doc.Snapshot(id)
	require.True(s.t, ok)
	return snapshot
}

// rewritten gives the table's metadata with a part of its text replaced.
func (s *site) rewritten(part, by string) *metadata.Document {
	s.t.Helper()
	text := strings.Replace(string(s.doc.Bytes()), part, by, 1)
	require.NotEqual(s.t, string(s.doc.Bytes()), text)
	doc, err := metadata.Parse([]byte(text))
	require.NoError(s.t, err)
	return doc
}
