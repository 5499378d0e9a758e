package maintenance_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
)

const schemaJSON = `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}`

// lake is a warehouse folder with tables that were written as engines and the catalog write them.
type lake struct {
	t      *testing.T
	root   string // path
	files  *objects.Router
	purger *maintenance.Purger
	writer icebergtest.Writer
	fail   atomic.Int64 // deletes that still succeed; negative: all
}

func newLake(t *testing.T) *lake {
	t.Helper()
	l := &lake{t: t, root: t.TempDir(), writer: icebergtest.LocalFiles()}
	l.fail.Store(-1)
	var err error
	l.files, err = objects.Open(t.Context(), objects.Config{Roots: []string{"file://" + l.root}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.files.Close() })
	l.purger = maintenance.NewPurger(brittle{l.files, l}, nil)
	return l
}

// brittle is a store whose deletes may begin to fail.
type brittle struct {
	*objects.Router
	lake *lake
}

func (b brittle) DeleteFile(ctx context.Context, location string) error {
	if left := b.lake.fail.Load(); left == 0 {
		return errors.New("the store fails")
	} else if left > 0 {
		b.lake.fail.Add(-1)
	}
	return b.Router.DeleteFile(ctx, location)
}

// table is one table with the commits so far.
type table struct {
	lake     *lake
	location string
	current  string // metadata file
	doc      *metadata.Document
	version  int
}

func (l *lake) table(name string) *table {
	l.t.Helper()
	doc, err := metadata.New(metadata.CreateInput{
		UUID: uuid.NewString(), Location: "file://" + l.root + "/" + name, Schema: json.RawMessage(schemaJSON), Now: time.Now(),
	})
	require.NoError(l.t, err)
	t := &table{lake: l, location: doc.Location()}
	t.publish(doc)
	return t
}

func (t *table) publish(doc *metadata.Document) {
	t.lake.t.Helper()
	t.version++
	t.doc, t.current = doc, t.location+"/metadata/0000"+string(rune('0'+t.version))+"-x.metadata.json"
	require.NoError(t.lake.t, t.lake.writer.Put(t.current, doc.Bytes()))
}

func (t *table) apply(updates ...json.RawMessage) {
	t.lake.t.Helper()
	decoded, err := metadata.DecodeUpdates(updates)
	require.NoError(t.lake.t, err)
	result, err := metadata.Apply(t.doc, decoded, metadata.ApplyOptions{Now: time.Now(), PreviousLocation: t.current})
	require.NoError(t.lake.t, err)
	t.publish(result.Document)
}

// append commits data files of 1000 bytes, and gives their locations.
func (t *table) append(files int) []string {
	t.lake.t.Helper()
	state, err := icebergtest.Parse(t.doc.Bytes())
	require.NoError(t.lake.t, err)
	c, err := t.lake.writer.Append(state, files, 10)
	require.NoError(t.lake.t, err)
	for _, file := range c.DataFiles {
		require.NoError(t.lake.t, t.lake.writer.Put(file, make([]byte, 1000)))
	}
	t.apply(c.Updates...)
	return c.DataFiles
}

// share commits a manifest that names files of another table, as add_files and snapshots of tables do.
func (t *table) share(files ...string) {
	t.lake.t.Helper()
	state, err := icebergtest.Parse(t.doc.Bytes())
	require.NoError(t.lake.t, err)
	c := icebergtest.Commit{SnapshotID: int64(1000 + t.version), DataFiles: files, Rows: 10}
	manifest, err := t.lake.writer.Manifest(state, c.SnapshotID, files, 10)
	require.NoError(t.lake.t, err)
	older, err := t.lake.writer.Manifests(state.HeadList)
	require.NoError(t.lake.t, err)
	c, err = t.lake.writer.Finish(state, c, "append", append(older, manifest))
	require.NoError(t.lake.t, err)
	t.apply(c.Updates...)
}

func (t *table) purged() maintenance.Table {
	return maintenance.Table{Location: t.location, MetadataLocation: t.current}
}

// left gives the files under a table, or under the whole warehouse for "".
func (l *lake) left(name string) []string {
	l.t.Helper()
	out := []string{}
	require.NoError(l.t, filepath.WalkDir(filepath.Join(l.root, name), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, l.root+"/"))
		}
		return err
	}))
	slices.Sort(out)
	return out
}

// purge runs the parts as the workflow does, with the set of files that others need.
func (l *lake) purge(t *table, kept maintenance.FileSet) (maintenance.Progress, error) {
	l.t.Helper()
	var sum maintenance.Progress
	for _, part := range []func() (maintenance.Progress, error){
		func() (maintenance.Progress, error) {
			return l.purger.DeleteData(l.t.Context(), t.purged(), kept, maintenance.Progress{}, quietly)
		},
		func() (maintenance.Progress, error) {
			return l.purger.DeleteMetadata(l.t.Context(), t.purged(), kept, maintenance.Progress{}, quietly)
		},
		func() (maintenance.Progress, error) {
			return l.purger.DeleteLeftovers(l.t.Context(), t.purged(), kept, time.Now().Add(-24*time.Hour), maintenance.Progress{}, quietly)
		},
	} {
		done, err := part()
		sum.Files, sum.Bytes = sum.Files+done.Files, sum.Bytes+done.Bytes
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func quietly(maintenance.Progress) {}

func (l *lake) size(name string) (bytes int64) {
	l.t.Helper()
	for _, file := range l.left(name) {
		info, err := os.Stat(filepath.Join(l.root, file))
		require.NoError(l.t, err)
		bytes += info.Size()
	}
	return bytes
}

func (l *lake) put(name string, age time.Duration) string {
	l.t.Helper()
	path := filepath.Join(l.root, name)
	require.NoError(l.t, l.writer.Put("file://"+path, make([]byte, 10)))
	at := time.Now().Add(-age)
	require.NoError(l.t, os.Chtimes(path, at, at))
	return name
}
