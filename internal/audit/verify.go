package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// sealWithin is how long an event may wait for its place.
	sealWithin = time.Minute
	// removeWithin is how long events may be there that are pruned.
	removeWithin = time.Hour
	// maxPrunes is how often a verification begins anew because events were pruned under it.
	maxPrunes = 3
)

// VerifyOptions say what else a chain is held against.
type VerifyOptions struct {
	Public  []ed25519.PublicKey // the only keys that are believed; empty: those of the database
	Outside []Checkpoint        // that were kept elsewhere
	// Vault proves that the keys in the database were made by Sluice; nil: that is not known.
	Vault Vault
}

// Verifier reads the whole audit and says what is wrong with it. It writes nothing and works beside running processes.
type Verifier struct {
	chain   Chain
	now     func() time.Time
	workers int
}

// NewVerifier makes a verifier that uses every processor.
func NewVerifier(chain Chain, now func() time.Time) *Verifier {
	return &Verifier{chain: chain, now: now, workers: runtime.GOMAXPROCS(0)}
}

// Verify holds every event against the chain, the chain against the signed checkpoints, and the state against both. A
// chain that is wrong is a report with problems; errors mean that it could not be read.
func (v *Verifier) Verify(ctx context.Context, o VerifyOptions) (Report, error) {
	for attempt := 1; ; attempt++ {
		run, err := v.begin(ctx, o)
		if err != nil {
			return Report{}, err
		}
		if err := run.verify(ctx); err != nil {
			return Report{}, err
		}
		after, err := v.chain.AuditState(ctx)
		if err != nil {
			return Report{}, err
		}
		if after.PrunedSeq == run.state.PrunedSeq || len(run.report.Problems) == 0 || attempt == maxPrunes {
			run.report.Good = len(run.report.Problems) == 0
			return run.report, nil
		}
	}
}

// verification is one pass over an audit.
type verification struct {
	*Verifier
	opt         VerifyOptions
	state       models.AuditState
	stored      []models.AuditCheckpoint // of the database
	storedKeys  []models.AuditKey
	checkpoints []models.AuditCheckpoint // good ones, those from outside too
	keys        map[string]ed25519.PublicKey
	report      Report
}

func (v *Verifier) begin(ctx context.Context, o VerifyOptions) (*verification, error) {
	run := &verification{Verifier: v, opt: o, keys: map[string]ed25519.PublicKey{}}
	for attempt := 1; ; attempt++ {
		before, err := v.chain.AuditState(ctx)
		if err != nil {
			return nil, err
		}
		if err := run.read(ctx); err != nil {
			return nil, err
		}
		if before.PrunedSeq == run.state.PrunedSeq || attempt == maxPrunes {
			run.report = Report{PrunedSeq: run.state.PrunedSeq, Problems: []Problem{}, Notes: []string{}}
			return run, nil
		}
	}
}

// read reads what stands for the chain beside processes that go on sealing: first the checkpoints, then the keys, which are
// there before what they sign, and last the state, which is as far as every checkpoint by then.
func (v *verification) read(ctx context.Context) (err error) {
	if v.stored, err = v.chain.AuditCheckpoints(ctx); err != nil {
		return err
	}
	if v.storedKeys, err = v.chain.AuditKeys(ctx); err != nil {
		return err
	}
	v.state, err = v.chain.AuditState(ctx)
	return err
}

func (v *verification) verify(ctx context.Context) error {
	v.readKeys()
	if err := v.readCheckpoints(); err != nil {
		return err
	}
	start := v.start()
	check := &chainCheck{chain: v.chain, workers: v.workers, marks: map[int64]string{}, hash: start}
	for _, c := range v.checkpoints {
		if c.Seq > v.state.PrunedSeq && c.Seq <= v.state.Seq {
			check.wanted = append(check.wanted, c.Seq)
		}
	}
	slices.Sort(check.wanted)
	problem, err := check.run(ctx, v.state.PrunedSeq, v.state.Seq)
	if err != nil {
		return err
	}
	v.report.Events, v.report.FirstSeq = check.events, check.first
	v.report.LastSeq, v.report.Hash = check.last.Seq, check.hash
	if problem != nil {
		if err := check.classify(ctx, problem, v.state.Seq); err != nil && !errors.Is(err, errStop) {
			return err
		}
		if problem.Kind == Removed && problem.Seq == check.last.Seq+1 && v.nothingAfter(ctx, problem.Seq) {
			problem.Kind = CutOff
		}
		v.report.add(*problem)
	} else if check.hash != v.state.Hash {
		v.report.add(Problem{Kind: BadState, Seq: v.state.Seq, Detail: "the state has another hash than the last event"})
	}
	v.hold(check, problem)
	return v.ends(ctx)
}

// nothingAfter tells whether the chain has no event from a place on.
func (v *verification) nothingAfter(ctx context.Context, seq int64) bool {
	err := v.chain.AuditRecords(ctx, seq-1, v.state.Seq, func(*Record) error { return errStop })
	return err == nil
}

// readKeys proves the keys of the database, where that is possible.
func (v *verification) readKeys() {
	for _, key := range v.storedKeys {
		public := ed25519.PublicKey(key.Public)
		if len(v.opt.Public) > 0 {
			if v.believed(public) {
				v.keys[key.ID] = public
			}
			continue
		}
		v.keys[key.ID] = public
		if v.opt.Vault == nil {
			continue
		}
		if _, err := openKey(v.opt.Vault, key); fault.Is(err, fault.Unavailable) {
			v.report.add(Problem{Kind: BadSignature, Detail: fmt.Sprintf("the key %s is not encrypted with any of the encryption keys: Sluice did not make it, or they were exchanged at once; --public-key says which keys to believe", key.ID)})
		} else if err != nil {
			v.report.add(Problem{Kind: BadSignature, Detail: fmt.Sprintf("the key %s was not made by Sluice, or was changed", key.ID)})
		}
	}
	if v.opt.Vault == nil && len(v.opt.Public) == 0 && len(v.storedKeys) > 0 {
		v.note("the keys of checkpoints are those of the database: give --public-key, or the encryption keys, to prove them")
	}
}

func (v *verification) believed(public ed25519.PublicKey) bool {
	return slices.ContainsFunc(v.opt.Public, func(p ed25519.PublicKey) bool { return p.Equal(public) })
}

func (v *verification) note(format string, args ...any) {
	v.report.Notes = append(v.report.Notes, fmt.Sprintf(format, args...))
}

// readCheckpoints keeps those whose signatures are good.
func (v *verification) readCheckpoints() error {
	for _, c := range v.stored {
		public, known := v.keys[c.KeyID]
		if !known {
			v.report.add(Problem{Kind: BadSignature, Seq: c.Seq, Detail: fmt.Sprintf("the checkpoint of %d is signed with the key %s, which is not believed", c.Seq, c.KeyID)})
			continue
		}
		v.keep(c, public, "the checkpoint of %d is not what was signed")
	}
	for _, o := range v.opt.Outside {
		c, public, err := o.row()
		if err != nil {
			return err
		}
		if len(v.opt.Public) > 0 && !v.believed(public) {
			v.report.add(Problem{Kind: BadSignature, Seq: c.Seq, Detail: fmt.Sprintf("the checkpoint of %d that was kept outside is signed with another key than those given", c.Seq)})
			continue
		}
		v.keep(c, public, "the checkpoint of %d that was kept outside is not what was signed")
	}
	return nil
}

func (v *verification) keep(c models.AuditCheckpoint, public ed25519.PublicKey, bad string) {
	if !signed(c, public) {
		v.report.add(Problem{Kind: BadSignature, Seq: c.Seq, Detail: fmt.Sprintf(bad, c.Seq)})
		return
	}
	v.checkpoints = append(v.checkpoints, c)
}

// start gives the hash before the first event: of what was pruned, a signed checkpoint says it.
func (v *verification) start() string {
	if v.state.PrunedSeq == 0 {
		return Genesis
	}
	for _, c := range v.checkpoints {
		if c.Pruned && c.Seq == v.state.PrunedSeq {
			return c.Hash
		}
	}
	v.report.add(Problem{Kind: NoCheckpoint, Seq: v.state.PrunedSeq, Detail: fmt.Sprintf("events up to %d are gone and no signed checkpoint says that they were pruned", v.state.PrunedSeq)})
	return ""
}

// hold compares the chain with the checkpoints.
func (v *verification) hold(check *chainCheck, problem *Problem) {
	for _, c := range v.checkpoints {
		hash, known := check.marks[c.Seq]
		switch {
		case c.Seq > v.state.Seq:
			v.report.add(Problem{Kind: CutOff, Seq: c.Seq, Detail: fmt.Sprintf("a checkpoint stands for %d events and there are %d: the end is cut off", c.Seq, v.state.Seq)})
		case c.Pruned && c.Seq > v.state.PrunedSeq:
			v.report.add(Problem{Kind: BadState, Seq: c.Seq, Detail: fmt.Sprintf("a checkpoint says that events up to %d were pruned, and the state says %d", c.Seq, v.state.PrunedSeq)})
		case known && hash != c.Hash:
			v.report.add(Problem{Kind: Rewritten, Seq: c.Seq, Detail: fmt.Sprintf("the chain has another hash at %d than the checkpoint of %s: it was computed anew", c.Seq, c.At.UTC().Format(time.RFC3339))})
		case !known && c.Seq > v.state.PrunedSeq && problem == nil:
			v.report.add(Problem{Kind: Removed, Seq: c.Seq, Detail: fmt.Sprintf("the event of the checkpoint of %d is gone", c.Seq)})
		default:
			v.report.SignedSeq = max(v.report.SignedSeq, c.Seq)
		}
		v.report.Checkpoints++
	}
	if unsigned := v.state.Seq - v.report.SignedSeq; v.report.SignedSeq == 0 && unsigned > 0 {
		v.note("no checkpoint stands for any of the %d events", unsigned)
	}
}

// ends looks at what lies outside the chain.
func (v *verification) ends(ctx context.Context) error {
	ends, err := v.chain.AuditEnds(ctx)
	if err != nil {
		return err
	}
	v.report.Unsealed = ends.Unsealed
	now := v.now()
	if ends.Unsealed > 0 && now.Sub(ends.Oldest) > sealWithin {
		v.report.add(Problem{Kind: NotSealed, ID: ends.OldestID, Detail: fmt.Sprintf("%d events have no place yet, the first since %s: start serve or a worker, which seal", ends.Unsealed, ends.Oldest.UTC().Format(time.RFC3339))})
	}
	if b := ends.Beyond; b != nil {
		v.report.add(Problem{Kind: Inserted, Seq: b.Seq, ID: b.ID, EventID: b.EventID, Detail: "the event is after the last one that was sealed"})
	}
	switch b := ends.Below; {
	case b == nil:
	case b.Seq < 1:
		v.report.add(Problem{Kind: Inserted, Seq: b.Seq, ID: b.ID, EventID: b.EventID, Detail: fmt.Sprintf("the event was never sealed: it is at the place %d, and the chain begins with 1", b.Seq)})
	case v.prunedBefore(now.Add(-removeWithin)):
		v.report.add(Problem{Kind: Unpruned, Seq: b.Seq, ID: b.ID, EventID: b.EventID, Detail: "the event is among those that were pruned, and is there: it is not verified"})
	}
	return nil
}

func (v *verification) prunedBefore(t time.Time) bool {
	for _, c := range v.checkpoints {
		if c.Pruned && c.Seq == v.state.PrunedSeq {
			return c.At.Before(t)
		}
	}
	return v.state.PrunedSeq > 0
}
