package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// ReplaceView applies a commit to a view. It retries while swaps are lost to others and the requirements still hold.
//
// Errors: Conflict when a requirement fails, Invalid for updates that make no valid view, UnknownState when the outcome
// of the swap is in doubt; after any other error nothing has changed.
func (s *Service) ReplaceView(ctx context.Context, caller policy.Caller, cat models.Catalog, in ReplaceViewInput) (LoadedView, error) {
	if err := refuseReadOnly(caller, "change a view"); err != nil {
		return LoadedView{}, err
	}
	unlock, err := s.locks.Lock(ctx, lockKey(cat, in.View))
	if err != nil {
		return LoadedView{}, err
	}
	defer unlock()
	for attempt := 0; ; attempt++ {
		p, err := s.planView(ctx, caller, cat, in)
		if err != nil {
			return LoadedView{}, err
		}
		view, err := s.carryOutView(ctx, caller, p)
		switch {
		case !fault.Is(err, fault.Conflict):
			return view, err
		case attempt == maxAttempts:
			return LoadedView{}, fault.Wrap(err, fault.Conflict, "Requirement failed: the view was changed by others too often meanwhile. Refresh and retry.")
		}
		if err := pause(ctx, attempt); err != nil {
			return LoadedView{}, err
		}
	}
}

// viewPlan is a view's judged commit.
type viewPlan struct {
	at      tablePlace
	row     models.View // as it is
	result  *metadata.ViewResult
	actions []string
}

func (s *Service) planView(ctx context.Context, caller policy.Caller, cat models.Catalog, in ReplaceViewInput) (viewPlan, error) {
	at, row, err := s.findView(ctx, caller, cat, in.View)
	if err != nil {
		return viewPlan{}, err
	}
	if err := caller.Require(policy.ReplaceView, policy.Object, at.tablePath(row.ID), "view "+in.View.String()); err != nil {
		return viewPlan{}, err
	}
	base, err := s.documents.getView(ctx, row.MetadataLocation)
	if err != nil {
		return viewPlan{}, err
	}
	if err := metadata.CheckView(base, in.Requirements); err != nil {
		return viewPlan{}, err
	}
	p := viewPlan{at: at, row: row, actions: make([]string, len(in.Updates))}
	for i, u := range in.Updates {
		p.actions[i] = u.Action
	}
	if p.result, err = metadata.ApplyView(base, in.Updates, s.now()); err != nil || !p.result.Changed {
		return p, err
	}
	next, changes := p.result.Document, p.result.Changes
	if changes.LocationChanged {
		return p, s.checkView(ctx, at, next, next.Properties())
	}
	return p, s.checkViewProperties(next.Location(), changes.PropertiesSet)
}

// carryOutView writes the metadata file and moves the pointer. fault.Conflict means that another commit was faster
// and nothing has changed.
func (s *Service) carryOutView(ctx context.Context, caller policy.Caller, p viewPlan) (LoadedView, error) {
	view := LoadedView{Row: p.row, Document: p.result.Document}
	if !p.result.Changed {
		return view, nil
	}
	if err := s.pointViewTo(&view.Row, view.Document, s.newViewLocation(view.Document, p.row.MetadataLocation)); err != nil {
		return LoadedView{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	location := view.Row.MetadataLocation
	if err := s.writeBytes(ctx, location, view.Document.Bytes()); err != nil {
		return LoadedView{}, err
	}
	event := s.viewEvent(caller, models.AuditViewReplaced, p.at, view.Row, map[string]any{
		"actions": counted(p.actions), "version": view.Document.CurrentVersionID(), "metadataLocation": location, "client": caller.Origin.Client,
	})
	if err := s.store.SwapView(ctx, view.Row, event); err != nil {
		s.discard(ctx, err, location)
		return LoadedView{}, err
	}
	view.Row.Version++
	s.documents.put(viewKey(location), view.Document)
	return view, nil
}
