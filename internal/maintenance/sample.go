package maintenance

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/classify"
	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableread"
)

const (
	sampledRows  = 1000
	sampledFiles = 4
	sampleMemory = 64 << 20
	sampledBytes = 32 << 20
	sampleTime   = 3 * time.Second
)

// Sampling is what looking at one table may take, so that checks of many tables get on. Zero fields mean the defaults.
type Sampling struct {
	Bytes int64         // of manifests and data; 0 for 32 MB
	Time  time.Duration // 0 for 3 s
}

// Sampler looks at a few rows of tables for what looks like personal data. It gives no values on.
type Sampler struct {
	reader *tableread.Reader
	most   Sampling
}

// NewSampler makes a Sampler.
func NewSampler(files tableread.Files, most Sampling) *Sampler {
	most.Bytes, most.Time = cmp.Or(most.Bytes, sampledBytes), cmp.Or(most.Time, sampleTime)
	counted := metered{files}
	return &Sampler{reader: tableread.New(counted, newest{scan.New(counted)}, tableread.Options{Memory: sampleMemory, Workers: 1}), most: most}
}

// Sample gives what is to be suggested for the columns of a table, by up to a thousand rows of its newest data files. A table
// without texts or rows gives nothing. What takes too long or too much is left at what was seen until then. Errors are
// those of reading the table.
func (s *Sampler) Sample(ctx context.Context, doc *metadata.Document) ([]classify.Suggestion, error) {
	if _, ok := doc.CurrentSnapshotID(); !ok {
		return nil, nil
	}
	schema, err := doc.CurrentSchema()
	if err != nil {
		return nil, err
	}
	columns := texts(schema.Fields)
	if len(columns) == 0 {
		return nil, nil
	}
	what := tableread.Scan{Document: doc, SchemaID: schema.ID, Columns: columns, Limit: sampledRows}
	held, err := s.reader.Schema(what)
	if err != nil {
		return nil, err
	}
	classifier := classify.New(classify.Spec{Schema: held})
	bounded, cancel := context.WithTimeout(ctx, s.most.Time)
	defer cancel()
	bounded, meter := withMeter(bounded, s.most.Bytes)
	_, err = s.reader.Scan(bounded, what, func(batch arrow.RecordBatch) error {
		classifier.Observe(batch)
		return nil
	})
	if ctx.Err() == nil && (bounded.Err() != nil || meter.left.Load() < 0) {
		err = nil
	}
	return classifier.Suggestions(), err
}

// texts gives the columns of strings by their dotted names, those in structs too.
func texts(fields []metadata.Field) []string {
	var names []string
	for _, f := range fields {
		switch f.Type {
		case "string":
			names = append(names, f.Path)
		case "struct":
			names = append(names, texts(f.Children)...)
		}
	}
	return names
}

// newest plans reads of the data files that came last.
type newest struct{ planner tableread.Planner }

func (n newest) Files(ctx context.Context, doc *metadata.Document, snapshot *int64, schemaID int, filter *expression.Filter) ([]*scan.DataFile, error) {
	files, err := n.planner.Files(ctx, doc, snapshot, schemaID, filter)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(files, func(a, b *scan.DataFile) int { return int(min(1, max(-1, b.Sequence-a.Sequence))) })
	files = files[:min(len(files), sampledFiles)]
	slices.SortFunc(files, func(a, b *scan.DataFile) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}
