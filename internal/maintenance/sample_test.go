package maintenance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/classify"
	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

// peopleTable is an empty table with texts in it.
func (l *lake) peopleTable(fields string) *metadata.Document {
	l.t.Helper()
	doc, err := metadata.New(metadata.CreateInput{
		UUID: uuid.NewString(), Location: "file://" + l.root + "/people", Schema: json.RawMessage(`{"type":"struct","schema-id":0,"fields":[` + fields + `]}`), Now: time.Now(),
	})
	require.NoError(l.t, err)
	return doc
}

// land appends a data file of rows.
func (l *lake) land(doc *metadata.Document, rows []string) *metadata.Document {
	l.t.Helper()
	schema, err := doc.CurrentSchema()
	require.NoError(l.t, err)
	held, err := columnar.FromMetadata(schema)
	require.NoError(l.t, err)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, held, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	require.NoError(l.t, err)
	io := tableio.New(nil, l.files, time.Now)
	w, err := io.NewFileWriter(l.t.Context(), doc, tableio.FileOptions{})
	require.NoError(l.t, err)
	require.NoError(l.t, w.Write(batch))
	written, err := w.Close()
	require.NoError(l.t, err)
	staged, err := io.Stage(l.t.Context(), tableio.Delta{Table: models.TableIdent{Namespace: []string{"db"}, Name: "people"}, Base: doc, Adds: []*tableio.Written{written}})
	require.NoError(l.t, err)
	result, err := metadata.Apply(doc, staged.Input.Updates, metadata.ApplyOptions{Now: time.Now()})
	require.NoError(l.t, err)
	return result.Document
}

func (l *lake) sample(doc *metadata.Document) []classify.Suggestion {
	l.t.Helper()
	suggested, err := maintenance.NewSampler(l.files, maintenance.Sampling{}).Sample(context.Background(), doc)
	require.NoError(l.t, err)
	return suggested
}

const peopleFields = `{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"contact","required":false,"type":"string"},
	{"id":3,"name":"at","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"host","required":false,"type":"string"}]}}`

func people(n int, contact string) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"contact":%q,"at":{"host":"10.0.0.%d"}}`, i, fmt.Sprintf(contact, i), i%256)
	}
	return rows
}

func TestRowsAreSampledForPersonalData(t *testing.T) {
	l := newLake(t)
	doc := l.peopleTable(peopleFields)
	require.Empty(t, l.sample(doc), "it has no rows")
	doc = l.land(doc, people(30, "user%d@example.com"))
	require.Equal(t, []classify.Suggestion{
		{Column: "contact", Tag: "email", Matches: 30, Values: 30}, {Column: "at.host", Tag: "ip", Matches: 30, Values: 30},
	}, l.sample(doc))
}

// Of a large table a few rows are looked at, and those that came last.
func TestTheNewestRowsAreSampled(t *testing.T) {
	l := newLake(t)
	doc := l.peopleTable(peopleFields)
	for range 6 {
		doc = l.land(doc, people(10, "nothing to see in %d"))
	}
	for range 4 {
		doc = l.land(doc, people(500, "user%d@example.com"))
	}
	suggested := l.sample(doc)
	require.Len(t, suggested, 2)
	require.Equal(t, classify.Suggestion{Column: "contact", Tag: "email", Matches: 1000, Values: 1000}, suggested[0])
}

// slowFiles take their time, and count what is read of them.
type slowFiles struct {
	tableread.Files
	takes time.Duration
	read  atomic.Int64
}

func (s *slowFiles) ReadFile(ctx context.Context, location string) ([]byte, error) {
	raw, err := s.Files.ReadFile(ctx, location)
	s.read.Add(int64(len(raw)))
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.takes):
		return raw, err
	}
}

// A table that is large or slow holds up no check of the others.
func TestSamplingIsBounded(t *testing.T) {
	l := newLake(t)
	doc := l.peopleTable(peopleFields)
	for range 12 {
		doc = l.land(doc, people(500, "user%d@example.com"))
	}
	files := &slowFiles{Files: l.files}
	suggested, err := maintenance.NewSampler(files, maintenance.Sampling{Bytes: 20 << 10}).Sample(t.Context(), doc)
	require.NoError(t, err)
	require.Empty(t, suggested, "the manifests are all that it may read")
	require.Less(t, files.read.Load(), int64(100<<10), "and readers of manifests that were under way")

	files = &slowFiles{Files: l.files, takes: time.Minute}
	start := time.Now()
	_, err = maintenance.NewSampler(files, maintenance.Sampling{Time: 100 * time.Millisecond}).Sample(t.Context(), doc)
	require.NoError(t, err)
	require.Less(t, time.Since(start), 10*time.Second)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = maintenance.NewSampler(l.files, maintenance.Sampling{}).Sample(ended, doc)
	require.ErrorIs(t, err, context.Canceled)
}

func TestTablesWithoutTextsAreNotRead(t *testing.T) {
	l := newLake(t)
	doc := l.land(l.peopleTable(`{"id":1,"name":"id","required":true,"type":"long"}`), []string{`{"id":1}`})
	unreadable := maintenance.NewSampler(nil, maintenance.Sampling{})
	suggested, err := unreadable.Sample(t.Context(), doc)
	require.NoError(t, err)
	require.Empty(t, suggested)
}
