package catalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluice-data/sluice/internal/contend"
	"github.com/sluice-data/sluice/models"
)

const (
	// reservedFor is how long a table is kept for one holder, unless it asks again.
	reservedFor = 6 * time.Second
	// waitsAtMost is how long a commit waits for holders. Engines wait longer than that for an answer.
	waitsAtMost = 20 * time.Second
)

// errReserved says that a commit is to wait for its turn.
var errReserved = errors.New("the table is reserved")

// Reserve keeps a table for the commits that name the holder, in all processes, until it is released, or for six seconds: a
// holder asks again before they are over, and one that is killed is waited for no longer. Others wait meanwhile, twenty seconds
// at most, unless they are stale already. It is for those who need longer for a commit than others leave between theirs, and
// would lose to them without end. It tells whether the table is kept: not while another holder has it.
func (s *Service) Reserve(ctx context.Context, tableID, holder string) (bool, error) {
	return s.store.ReserveTable(ctx, tableID, holder, s.now().Add(reservedFor))
}

// Release ends what Reserve began. When that fails, time ends it.
func (s *Service) Release(ctx context.Context, tableID, holder string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	if err := s.store.ReleaseTable(ctx, tableID, holder); err != nil {
		s.log.WarnContext(ctx, "a table stays reserved for some seconds", "table", tableID, "error", err)
	}
}

// reserved tells whether a commit has to wait for another's. What lasts for much longer than tables are reserved for was said
// by a clock that is wrong, or was.
func (s *Service) reserved(row models.Table, in CommitInput) bool {
	if in.insists || row.ReservedBy == "" || row.ReservedBy == in.Holder || row.ReservedUntil == nil {
		return false
	}
	left := row.ReservedUntil.Sub(s.now())
	return left > 0 && left <= 2*reservedFor
}

// turn is the wait of one commit.
type turn struct {
	now   func() time.Time
	until time.Time
	waits int
}

func (s *Service) newTurn() *turn { return &turn{now: s.now, until: s.now().Add(waitsAtMost)} }

// wait waits a moment. From a time on the commit waits no more: one holder may come after the other.
func (t *turn) wait(ctx context.Context, in []CommitInput) ([]CommitInput, error) {
	if t.now().After(t.until) {
		in = slices.Clone(in)
		for i := range in {
			in[i].insists = true
		}
		return in, nil
	}
	t.waits++
	return in, contend.Pause(ctx, t.waits, firstPause, lastPause)
}
