package dataplane_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

// writeLake is a readLake whose tables are written through the data plane.
type writeLake struct {
	*readLake
	deps dataplane.Deps
	core *racing
}

// racing is the catalog, with somebody who acts just before a commit or changes its outcome.
type racing struct {
	*catalog.Service
	mu     sync.Mutex
	before func()
	after  func(error) error
	// instead fails commits, of several tables too.
	instead func() error
	reserve func() error // fails what would reserve a table
}

func (r *racing) Reserve(ctx context.Context, tableID, holder string) (bool, error) {
	if r.reserve != nil {
		if err := r.reserve(); err != nil {
			return false, err
		}
	}
	return r.Service.Reserve(ctx, tableID, holder)
}

func (r *racing) CommitTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in catalog.CommitInput) (catalog.TableView, error) {
	before, after := r.hooks()
	if r.instead != nil {
		if err := r.instead(); err != nil {
			return catalog.TableView{}, err
		}
	}
	if before != nil {
		before()
	}
	view, err := r.Service.CommitTable(ctx, caller, cat, in)
	if after != nil {
		err = after(err)
	}
	return view, err
}

func (r *racing) hooks() (func(), func(error) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.before, r.after
}

// faster has somebody act before each commit of the lake, told how often so far, and waits half a second for that: no longer,
// since a write may hold others up. over waits for all of it, and gives how often it was.
func (l *writeLake) faster(act func(n int)) (over func() int) {
	var acts sync.WaitGroup
	var begun atomic.Int64
	l.core.before = func() {
		n, done := int(begun.Add(1)), make(chan struct{})
		acts.Go(func() {
			defer close(done)
			act(n)
		})
		select {
		case <-done:
		case <-time.After(500 * time.Millisecond):
		}
	}
	return func() int {
		acts.Wait()
		return int(begun.Load())
	}
}

func newWriteLake(t testing.TB, change ...func(*dataplane.Deps)) *writeLake {
	t.Helper()
	return writeLakeOn(t, filepath.Join(t.TempDir(), "sluice.db")+"?synchronous=normal", change...)
}

func writeLakeOn(t testing.TB, url string, change ...func(*dataplane.Deps)) *writeLake {
	t.Helper()
	l := &writeLake{}
	l.readLake = readLakeOn(t, url, func(d *dataplane.Deps) {
		l.core = &racing{Service: d.Catalog.(*catalog.Service)}
		d.Catalog = l.core
	}, func(d *dataplane.Deps) {
		for _, f := range change {
			f(d)
		}
		l.deps = *d
	})
	l.deps.Files = l.files
	l.data = dataplane.New(l.another())
	return l
}

// another gives what a further process has.
func (l *writeLake) another() dataplane.Deps {
	d := l.deps
	d.Metrics = nil
	d.Keys = idempotency.New(idempotency.Deps{Store: l.db, Lifetime: time.Hour, Now: time.Now})
	return d
}

// writer may write and not read.
func (l *writeLake) writer() policy.Caller {
	return l.holding("eve", models.Internal, nil, models.DataWrite)
}

// made is a table to be made.
type made struct {
	name       string
	version    int
	fields     string // of its schema
	identifier string // field ids
	spec       string // fields of its partition spec
}

const orderFields = `{"id":1,"name":"id","type":"long","required":true},{"id":2,"name":"region","type":"string","required":false},` +
	`{"id":3,"name":"note","type":"string","required":false}`

func (l *writeLake) make(m made) {
	l.t.Helper()
	if m.fields == "" {
		m.fields = orderFields
	}
	schema := `{"type":"struct","schema-id":0,"identifier-field-ids":[` + m.identifier + `],"fields":[` + m.fields + `]}`
	in := catalog.CreateTableInput{
		Namespace: []string{"sales"}, Name: m.name, Schema: json.RawMessage(schema),
		Properties: map[string]string{"format-version": fmt.Sprint(m.version)},
	}
	if m.spec != "" {
		in.PartitionSpec = json.RawMessage(`{"spec-id":0,"fields":[` + m.spec + `]}`)
	}
	_, err := l.core.CreateTable(l.t.Context(), l.owner(), l.cat, in)
	require.NoError(l.t, err)
}

const byRegion = `{"source-id":2,"field-id":1000,"name":"region","transform":"identity"}`

// write sends rows, each JSON.
func (l *writeLake) write(name string, in dataplane.WriteInput, lines ...string) (dataplane.WriteResult, error) {
	l.t.Helper()
	return l.writeIn(l.t.Context(), name, in, lines...)
}

func (l *writeLake) writeIn(ctx context.Context, name string, in dataplane.WriteInput, lines ...string) (dataplane.WriteResult, error) {
	return l.data.Write(ctx, l.writer(), "main.sales."+name, written(in, lines...))
}

// written is a write of rows, each JSON, if it has no body of its own.
func written(in dataplane.WriteInput, lines ...string) dataplane.WriteInput {
	if in.Body == nil {
		in.Format, in.Body = rows.NDJSON, strings.NewReader(strings.Join(lines, "\n"))
	}
	return in
}

func (l *writeLake) wrote(name string, in dataplane.WriteInput, lines ...string) dataplane.WriteResult {
	l.t.Helper()
	out, err := l.write(name, in, lines...)
	require.NoError(l.t, err)
	return out
}

// content gives the rows of a table in JSON, sorted.
func (l *writeLake) content(name string) []string {
	l.t.Helper()
	g, err := l.query(l.owner(), name, dataplane.QueryInput{Format: rows.NDJSON})
	require.NoError(l.t, err)
	out := strings.Split(strings.TrimSuffix(g.body.String(), "\n"), "\n")
	if out[0] == "" {
		return []string{}
	}
	slices.Sort(out)
	return out
}

// objects gives the files of a table that are neither metadata files nor folders.
func (l *writeLake) objects(name string) []string {
	l.t.Helper()
	var out []string
	root := strings.TrimPrefix(l.load(name).Row.Location, "file://")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".metadata.json") {
			rel, _ := filepath.Rel(root, path)
			out = append(out, rel)
		}
		return err
	})
	require.NoError(l.t, err)
	return out
}

// records gives the audit of the rows of a write.
func (l *writeLake) records(writeID string) []rowaudit.Record {
	l.t.Helper()
	blocks, err := l.db.RowAuditBlocks(l.t.Context(), models.RowAuditFilter{WriteID: writeID})
	require.NoError(l.t, err)
	var out []rowaudit.Record
	for i, b := range blocks {
		require.Equal(l.t, i, b.Place)
		part, err := rowaudit.Unpack(b)
		require.NoError(l.t, err)
		out = append(out, part...)
	}
	return out
}

// hashes gives the identity hashes of the rows that a table has, sorted.
func (l *writeLake) hashes(name string, columns ...string) [][16]byte {
	l.t.Helper()
	doc := l.load(name).Document
	scan := tableread.Scan{Document: doc, SchemaID: doc.CurrentSchemaID()}
	schema, err := l.deps.Reader.Schema(scan)
	require.NoError(l.t, err)
	hasher := l.hasher(schema, columns...)
	var out [][16]byte
	_, err = l.deps.Reader.Scan(l.t.Context(), scan, func(b arrow.RecordBatch) error {
		hashes, err := hasher.Hash(b)
		out = append(out, hashes...)
		return err
	})
	require.NoError(l.t, err)
	sortHashes(out)
	return out
}

func (l *writeLake) hasher(schema *arrow.Schema, columns ...string) *rowaudit.Hasher {
	l.t.Helper()
	row, err := l.db.DataKey(l.t.Context(), "identity", nil)
	require.NoError(l.t, err)
	key, err := l.deps.Secrets.Open(row.Sealed, []byte("data key identity"))
	require.NoError(l.t, err)
	hasher, err := rowaudit.NewHasher(key, columns, schema)
	require.NoError(l.t, err)
	return hasher
}

func hashesOf(records []rowaudit.Record) [][16]byte {
	out := make([][16]byte, len(records))
	for i, r := range records {
		out[i] = r.Hash
	}
	sortHashes(out)
	return out
}

func sortHashes(all [][16]byte) {
	slices.SortFunc(all, func(a, b [16]byte) int { return strings.Compare(string(a[:]), string(b[:])) })
}

// externally appends rows as an engine does, past the data plane.
func (l *writeLake) externally(name string, lines ...string) {
	l.t.Helper()
	l.add(name, "["+strings.Join(lines, ",")+"]")
}

func sortedCopy(lines []string) []string {
	out := slices.Clone(lines)
	slices.Sort(out)
	return out
}
