package dataplane

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// profileWithin bounds how long rows are read for a profile. One that ends early says so.
const profileWithin = 15 * time.Second

// Profile describes the content of a table as the caller sees it.
type Profile struct {
	SnapshotID *int64          `json:"snapshot-id,string"`
	Rows       int64           `json:"rows"`    // that were read: all that the caller sees unless sampled
	Sampled    bool            `json:"sampled"` // reading took too long and was ended: the rest is not in the figures
	Columns    []ProfileColumn `json:"columns"`
}

// ProfileColumn describes a column, or one that is nested in structs. Of a masked one it has what the masks leave: a
// column that shows the same in every row says nothing at all.
type ProfileColumn struct {
	Name     string                `json:"name"` // nested ones with dots
	Type     any                   `json:"type"`
	Level    models.Classification `json:"level"`
	Tag      string                `json:"tag,omitempty"`
	Mask     string                `json:"mask,omitempty"`
	Nulls    *int64                `json:"nulls,omitempty"`
	Distinct *int64                `json:"distinct,omitempty"` // an estimate, within some percent
	Min      json.RawMessage       `json:"min,omitempty"`
	Max      json.RawMessage       `json:"max,omitempty"`
}

// Profile reads the newest state of a table and describes its columns.
func (s *Service) Profile(ctx context.Context, caller policy.Caller, ref string) (out Profile, err error) {
	ctx, end, err := s.begin(ctx, caller.PrincipalID)
	if err != nil {
		return Profile{}, err
	}
	defer end()
	counted := s.metrics.start(kindProfile)
	defer func() { counted(0, 0, err) }()
	l, err := s.newestFor(ctx, caller, ref)
	if err != nil {
		return Profile{}, late(ctx, err)
	}
	s.Catalog.NoteGovernedRead(ctx, caller, l.table)
	out, err = s.profile(ctx, l)
	return out, late(ctx, err)
}

// errEnough ends the reading of rows for a profile.
var errEnough = errors.New("read for long enough")

func (s *Service) profile(ctx context.Context, l *lens) (Profile, error) {
	columns, err := l.readable()
	if err != nil {
		return Profile{}, err
	}
	view, err := s.project(ctx, l, columns)
	if err != nil {
		return Profile{}, err
	}
	figures := newFigures(l, view.masker.Schema())
	out := Profile{SnapshotID: l.at.id}
	until := s.Now().Add(min(profileWithin, s.Limits.Timeout/2))
	_, err = s.Reader.Scan(ctx, l.scan(view.read, l.rows), func(batch arrow.RecordBatch) error {
		shown, err := view.show(batch)
		if err != nil {
			return err
		}
		defer shown.Release()
		out.Rows += shown.NumRows()
		if err := figures.add(shown); err != nil {
			return err
		}
		if s.Now().After(until) {
			return errEnough
		}
		return nil
	})
	if out.Sampled = errors.Is(err, errEnough); out.Sampled {
		err = nil
	}
	if err != nil {
		return Profile{}, err
	}
	out.Columns, err = figures.result(l)
	return out, err
}
