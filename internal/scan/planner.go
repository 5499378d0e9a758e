package scan

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// Planner plans scans. It holds nothing but what it read of manifests, and is safe for concurrent use.
type Planner struct {
	files  Files
	limits limits
	read   *manifestCache
}

// limits bound one answer.
type limits struct {
	tasks     int // of a page
	manifests int // read for a page
	readers   int // manifests read at a time
	tokens    int // plan tasks of a plan
}

// Option changes a Planner.
type Option func(*Planner)

// WithPages sets how many tasks a page has at most and how many data manifests are read for it. The defaults are 2,000
// and 128.
func WithPages(tasks, manifests int) Option {
	return func(p *Planner) { p.limits.tasks, p.limits.manifests = tasks, manifests }
}

// WithCache sets how many bytes of what manifests say are kept for other plans. The default is none.
func WithCache(bytes int64) Option {
	return func(p *Planner) { p.read = newManifestCache(bytes) }
}

// New makes a Planner.
func New(files Files, options ...Option) *Planner {
	p := &Planner{files: files, read: newManifestCache(0), limits: limits{tasks: 2000, manifests: 128, readers: 8, tokens: 8}}
	for _, option := range options {
		option(p)
	}
	return p
}

// Plan plans a scan of the table. Errors are fault.Invalid for a request that cannot be: an unknown snapshot, snapshots of
// both kinds, a filter that does not bind to the schema.
func (p *Planner) Plan(ctx context.Context, doc *metadata.Document, req Request) (Plan, error) {
	pin, err := resolve(doc, req)
	if err != nil {
		return Plan{}, err
	}
	return p.start(ctx, doc, pin)
}

// Poll gives a plan again by its id. An id that is not one of this table's is fault.NotFound on fault.Plan.
func (p *Planner) Poll(ctx context.Context, doc *metadata.Document, id string) (Plan, error) {
	pin, err := openToken(planKind, doc, id)
	if err != nil {
		return Plan{}, err
	}
	return p.start(ctx, doc, pin)
}

// Cancel ends a plan. Nothing is kept of one, so that it only tells whether the id is one of this table's, as Poll does.
func (p *Planner) Cancel(_ context.Context, doc *metadata.Document, id string) error {
	_, err := openToken(planKind, doc, id)
	return err
}

// Tasks gives the page that a plan task stands for. One that is not of this table, or whose snapshot is gone, is
// fault.NotFound on fault.PlanTask.
func (p *Planner) Tasks(ctx context.Context, doc *metadata.Document, token string) (Page, error) {
	pin, err := openToken(taskKind, doc, token)
	if err != nil {
		return Page{}, err
	}
	work, err := p.open(ctx, doc, pin)
	if err != nil {
		return Page{}, err
	}
	if pin.To > len(work.data) {
		return Page{}, noSuchToken(taskKind)
	}
	page, rest, err := work.page(ctx, pin.span, 0)
	if err != nil {
		return Page{}, err
	}
	return page, page.addTokens(pin, rest, 1)
}

func (p *Planner) start(ctx context.Context, doc *metadata.Document, pin pinned) (Plan, error) {
	work, err := p.open(ctx, doc, pin)
	if err != nil {
		return Plan{}, err
	}
	page, rest, err := work.page(ctx, span{To: len(work.data)}, pin.MinRows)
	if err != nil {
		return Plan{}, err
	}
	if err := page.addTokens(pin, rest, p.limits.tokens); err != nil {
		return Plan{}, err
	}
	pin.span = span{}
	id, err := pin.token(planKind)
	return Plan{ID: id, Page: page}, err
}

// addTokens adds plan tasks for what is left, so that up to most of them can be fetched at a time.
func (p *Page) addTokens(pin pinned, rest span, most int) error {
	for _, part := range rest.split(most, len(pin.Filter)) {
		pin.span = part
		token, err := pin.token(taskKind)
		if err != nil {
			return err
		}
		p.PlanTasks = append(p.PlanTasks, token)
	}
	return nil
}

// noSuchToken answers for a plan id or a plan task that means nothing here.
func noSuchToken(kind string) error {
	if kind == planKind {
		return fault.About(fault.NotFound, fault.Plan, "Plan does not exist for this table, or its snapshot was removed. Plan the scan again.")
	}
	return fault.About(fault.NotFound, fault.PlanTask, "Plan task does not exist for this table, or its snapshot was removed. Plan the scan again.")
}
