package dataplane

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// PreviewRows is how many rows a preview has where nobody says, and at most.
const (
	PreviewRows     = 50
	MostPreviewRows = 500
)

// PreviewColumn is a column, what governance says of it, and whether the caller sees it as it is.
type PreviewColumn struct {
	Name   string                `json:"name"`
	Type   any                   `json:"type"` // of what is shown, as Iceberg writes it
	Level  models.Classification `json:"level"`
	Tag    string                `json:"tag,omitempty"`
	Masked bool                  `json:"masked"` // it, or something in it
	Mask   string                `json:"mask,omitempty"`
}

// Preview is the first rows of a table as the caller sees them.
type Preview struct {
	SnapshotID *int64          `json:"snapshot-id,string"`
	RowCount   *int64          `json:"row-count,string,omitempty"` // of the snapshot, deletes aside, where the caller sees all rows
	Columns    []PreviewColumn `json:"columns"`
	Rows       json.RawMessage `json:"rows"`
}

// Preview gives some rows of the newest state of a table, the first ones in physical order; limit 0 for the default.
func (s *Service) Preview(ctx context.Context, caller policy.Caller, ref string, limit int) (out Preview, err error) {
	if limit == 0 {
		limit = PreviewRows
	}
	if limit < 0 || limit > MostPreviewRows {
		return Preview{}, fault.New(fault.Invalid, "A preview has 1 to %d rows. Query the table for more.", MostPreviewRows)
	}
	ctx, end, err := s.begin(ctx, caller.PrincipalID)
	if err != nil {
		return Preview{}, err
	}
	defer end()
	counted, shown := s.metrics.start(kindPreview), int64(0)
	defer func() { counted(shown, int64(len(out.Rows)), err) }()
	l, err := s.newestFor(ctx, caller, ref)
	if err != nil {
		return Preview{}, late(ctx, err)
	}
	s.Catalog.NoteGovernedRead(ctx, caller, l.table)
	out, shown, err = s.preview(ctx, l, limit)
	return out, late(ctx, err)
}

// newestFor is the caller's lens on the newest state of a table.
func (s *Service) newestFor(ctx context.Context, caller policy.Caller, ref string) (*lens, error) {
	table, err := s.Catalog.FindForData(ctx, caller, policy.QueryRows, ref)
	if err != nil {
		return nil, err
	}
	at, err := head(table.Document)
	if err != nil {
		return nil, err
	}
	return newLens(caller, table, at)
}

func (s *Service) preview(ctx context.Context, l *lens, limit int) (Preview, int64, error) {
	columns, err := l.readable()
	if err != nil {
		return Preview{}, 0, err
	}
	view, err := s.project(ctx, l, columns)
	if err != nil {
		return Preview{}, 0, err
	}
	page, err := s.Reader.Page(ctx, l.scan(view.read, l.rows), nil, nil, limit)
	if err != nil {
		return Preview{}, 0, err
	}
	defer page.Release()
	out := Preview{SnapshotID: l.at.id, Columns: l.columns(view)}
	if l.whole {
		out.RowCount = l.at.rows
	}
	text, n := &bytes.Buffer{}, int64(0)
	if page.Rows == nil {
		err = writeRows(text, rows.JSON, view.masker.Schema(), nil)
	} else {
		shown, showErr := view.show(page.Rows)
		if showErr != nil {
			return Preview{}, 0, showErr
		}
		defer shown.Release()
		n, err = shown.NumRows(), writeRows(text, rows.JSON, view.masker.Schema(), shown)
	}
	out.Rows = text.Bytes()
	return out, n, err
}

// readable gives the columns whose types can be read, nil for all: what is shown to people is not refused for one that
// cannot.
func (l *lens) readable() ([]string, error) {
	names := []string{}
	for _, f := range l.at.schema.Fields {
		if canRead(f) {
			names = append(names, f.Name)
		}
	}
	switch len(names) {
	case len(l.at.schema.Fields):
		return nil, nil
	case 0:
		return nil, fault.New(fault.Unsupported, "Table %s has no column of a type that can be shown: read it with an engine.", l.table.Name)
	}
	return names, nil
}

// canRead tells whether a column and what is in it are of types that rows can be read of.
func canRead(f metadata.Field) bool {
	_, err := columnar.Field(f)
	return err == nil
}

// columns describes the columns of a view, top level ones.
func (l *lens) columns(view *projection) []PreviewColumn {
	levels := policy.Levels(l.row, l.at.schema)
	out := []PreviewColumn{}
	for _, f := range schemaOf(l, view.masker.Schema()).Fields {
		c := PreviewColumn{Name: f.Name, Type: f.Type, Level: levels[f.Name], Tag: l.row.Columns.V[f.Name].Tag, Mask: f.Mask}
		_, c.Masked = l.touchesMasked(f.Name)
		if c.Level == "" { // a struct that governance does not name: as sensitive as what is in it
			c.Level = l.levelWithin(f.Name, levels)
		}
		out = append(out, c)
	}
	return out
}

// levelWithin is the highest level of what is in a struct.
func (l *lens) levelWithin(name string, levels map[string]models.Classification) models.Classification {
	level := models.Public
	top, _ := topLevel(l.at.schema, name)
	metadata.Schema{Fields: []metadata.Field{top}}.Walk(func(f metadata.Field) {
		if rank(levels[f.Path]) > rank(level) {
			level = levels[f.Path]
		}
	})
	return level
}
