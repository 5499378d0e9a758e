package audit

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/models"
)

const (
	defaultEvery      = time.Second
	defaultCheckpoint = 10 * time.Minute
	// sealPage is how many events one transaction seals.
	sealPage = 1000
	// countEvery bounds how often what waits is counted.
	countEvery = 10 * time.Second
	// pageWithin bounds one transaction. A stop does not interrupt it: the database would go on holding the chain for a while.
	pageWithin = 5 * time.Second
	// stopWithin bounds what a stopping process still seals and signs; the rest is sealed by the next.
	stopWithin = 2 * time.Second
	// heldPause is how long a stopping process waits for another that seals.
	heldPause = 50 * time.Millisecond
)

// SealerOptions adjust a Sealer; zero fields mean defaults.
type SealerOptions struct {
	Every      time.Duration // between two rounds; default a second
	Checkpoint time.Duration // between two checkpoints; default 10 minutes
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	Now        func() time.Time
}

// Sealer gives events their place in the chain, about a second after they are written. Many processes may run one: the
// database lets one at a time seal. An event that becomes visible after events with higher ids gets a later place.
type Sealer struct {
	ledger  Ledger
	keys    *Keys
	opt     SealerOptions
	metrics *metrics
	wake    chan struct{}

	// The rest belongs to Run.
	state    models.AuditState
	broken   bool                    // the chain is not the one that this process knew
	signed   *models.AuditCheckpoint // the newest that is known, nil before the first look
	counted  time.Time
	failing  bool
	unsigned bool // it was said that nothing is signed
}

// NewSealer makes a sealer; the error is of the registration of its metrics.
func NewSealer(ledger Ledger, keys *Keys, o SealerOptions) (*Sealer, error) {
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	if o.Checkpoint <= 0 {
		o.Checkpoint = defaultCheckpoint
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	return &Sealer{ledger: ledger, keys: keys, opt: o, metrics: m, wake: make(chan struct{}, 1)}, nil
}

// Wake says that there is something to seal. It never blocks; many calls are one.
func (s *Sealer) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run seals until ctx ends, then what is there, and signs it. Failures are waited out, never returned. It must not be
// called twice at once.
func (s *Sealer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		_, err := s.round(ctx, s.opt.Checkpoint)
		s.report(ctx, err)
		timer := time.NewTimer(s.opt.Every)
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	for {
		held, err := s.round(last, 0)
		s.report(last, err)
		if !held || last.Err() != nil {
			return
		}
		time.Sleep(heldPause)
	}
}

// round seals all that waits, and signs where the chain is when the last checkpoint is that old. held tells that another
// process seals.
func (s *Sealer) round(ctx context.Context, age time.Duration) (held bool, err error) {
	for {
		done, err := s.page(ctx)
		if err != nil {
			return false, err
		}
		s.state, held = done.State, done.Held
		s.metrics.seq.Set(float64(done.State.Seq))
		if held || done.Events < sealPage || ctx.Err() != nil {
			break
		}
	}
	if err := s.count(ctx); err != nil {
		return held, err
	}
	return held, s.checkpoint(ctx, age)
}

func (s *Sealer) page(ctx context.Context) (Sealing, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pageWithin)
	defer cancel()
	var before *models.AuditState
	done, err := s.ledger.SealAudit(ctx, sealPage, func(state models.AuditState, records []Record) []string {
		before = &state
		return Link(state.Hash, state.Seq, records)
	})
	if err == nil && before == nil {
		before = &done.State
	}
	if err == nil && !follows(*before, s.state) {
		s.breakOff(ctx, "the chain of the audit goes on from another place than it was at", before.Seq)
	}
	return done, err
}

// follows tells whether a chain that was at a place once may be at another now. The zero state is no place.
func follows(now, once models.AuditState) bool {
	return now.Seq > once.Seq || now.Seq == once.Seq && (once.Hash == "" || now.Hash == once.Hash)
}

// breakOff ends the signing by this process: whoever owns the database can compute the chain anew and remove checkpoints, but
// is not to get the signature of a process that saw it.
func (s *Sealer) breakOff(ctx context.Context, what string, seq int64) {
	if s.broken {
		return
	}
	s.broken = true
	s.metrics.failures.Inc()
	s.opt.Logger.ErrorContext(ctx, what+": run sluice audit verify with checkpoints that were kept outside; this process signs no more", "seq", seq)
}

func (s *Sealer) count(ctx context.Context) error {
	now := s.opt.Now()
	if since := now.Sub(s.counted); since >= 0 && since < countEvery {
		return nil
	}
	ends, err := s.ledger.AuditEnds(ctx)
	if err != nil {
		return err
	}
	s.counted = now
	s.metrics.unsealed.Set(float64(ends.Unsealed))
	return nil
}

// checkpoint signs the chain unless there is nothing new in it, or a checkpoint younger than age.
func (s *Sealer) checkpoint(ctx context.Context, age time.Duration) error {
	now := s.opt.Now()
	if s.broken {
		return nil
	}
	if s.signed != nil && (s.state.Seq <= s.signed.Seq || recent(s.signed.At, now, age)) {
		return nil
	}
	newest, err := s.ledger.LastCheckpoint(ctx)
	if err != nil {
		return err
	}
	if s.signed != nil && newest.Seq < s.signed.Seq {
		s.breakOff(ctx, "a checkpoint of the audit is gone that was there", s.signed.Seq)
		return nil
	}
	s.signed = &newest
	s.metrics.signedAt(newest.At)
	if s.state.Seq <= newest.Seq || recent(newest.At, now, age) {
		return nil
	}
	if s.keys.vault == nil {
		if !s.unsigned {
			s.unsigned = true
			s.opt.Logger.WarnContext(ctx, "no checkpoints of the audit are signed by this process: it has no encryption-keys")
		}
		return nil
	}
	c, err := s.keys.Checkpoint(ctx, s.state.Seq, s.state.Hash, false)
	if err != nil {
		return err
	}
	added, err := s.ledger.AddCheckpoint(ctx, c, now.Add(-age))
	if err != nil {
		return err
	}
	if added {
		s.signed = &c
		s.metrics.signedAt(c.At)
	} else {
		s.signed = nil // another process was faster: look again
	}
	return nil
}

// recent tells whether a checkpoint is younger than age. One that a clock signed which was ahead is not: waiting for its time
// would leave the audit unsigned until then.
func recent(at, now time.Time, age time.Duration) bool {
	since := now.Sub(at)
	return since < age && since > -age
}

// report logs when sealing begins to fail, and when it works again.
func (s *Sealer) report(ctx context.Context, err error) {
	switch {
	case err != nil && ctx.Err() == nil:
		s.metrics.failures.Inc()
		if !s.failing {
			s.opt.Logger.WarnContext(ctx, "the audit is not sealed", "error", err)
		}
		s.failing = true
	case err == nil && s.failing:
		s.failing = false
		s.opt.Logger.InfoContext(ctx, "the audit is sealed again")
	}
}
