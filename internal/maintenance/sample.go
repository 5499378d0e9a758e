package maintenance

import (
	"context"
	"slices"
	"strings"

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
)

// Sampler looks at a few rows of tables for what looks like personal data. It gives no values on.
type Sampler struct {
	reader *tableread.Reader
}

// NewSampler makes a Sampler.
func NewSampler(files tableread.Files, planner tableread.Planner) *Sampler {
	return &Sampler{reader: tableread.New(files, newest{planner}, tableread.Options{Memory: sampleMemory, Workers: 1})}
}

// Sample gives what is to be suggested for the columns of a table, by up to a thousand rows of its newest data files. A table
// without texts or rows gives nothing. Errors are those of reading the table.
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
	_, err = s.reader.Scan(ctx, what, func(batch arrow.RecordBatch) error {
		classifier.Observe(batch)
		return nil
	})
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
