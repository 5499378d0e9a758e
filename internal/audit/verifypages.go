package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// verifyPage is how many places one worker verifies at a time.
const verifyPage = 5000

// page is a part of the chain: places above after up to through.
type page struct {
	after, through int64
	marks          map[int64]string // places whose hash is wanted

	first, last Place
	firstPrev   string // what the first row says that is before it
	lastHash    string
	events      int64
	problem     *Problem
}

// check verifies the page in itself. It stops at the first wrong row.
func (p *page) check(ctx context.Context, chain Chain) error {
	h := NewHasher()
	expected := p.after + 1
	err := chain.AuditRecords(ctx, p.after, p.through, func(r *Record) error {
		if p.problem = p.judge(h, r, expected); p.problem != nil {
			return errStop
		}
		if p.last = (Place{r.Seq, r.ID, r.EventID}); p.events == 0 {
			p.first, p.firstPrev = p.last, r.PrevHash
		}
		if _, wanted := p.marks[r.Seq]; wanted {
			p.marks[r.Seq] = r.Hash
		}
		p.lastHash = r.Hash
		p.events++
		expected++
		return nil
	})
	if err != nil && p.problem == nil {
		return err
	}
	if p.problem == nil && expected <= p.through {
		p.problem = &Problem{Kind: Removed, Seq: expected, Detail: missing(expected, p.through)}
	}
	return nil
}

// judge holds a row against the one before.
func (p *page) judge(h *Hasher, r *Record, expected int64) *Problem {
	at := Problem{Seq: r.Seq, ID: r.ID, EventID: r.EventID}
	switch {
	case r.Seq < expected:
		at.Kind, at.Detail = Inserted, fmt.Sprintf("two events have the place %d", r.Seq)
	case r.Seq > expected:
		at = Problem{Kind: Removed, Seq: expected, Detail: missing(expected, r.Seq-1)}
	case h.Hash(r.PrevHash, r.Seq, r) != r.Hash:
		at.Kind, at.Detail = Edited, "the row is not what was sealed: its hash is another"
	case p.events > 0 && r.PrevHash != p.lastHash:
		return parted(p.last, r.Seq)
	default:
		return nil
	}
	return &at
}

// parted is the problem of two rows that are each whole and do not follow one another.
func parted(before Place, next int64) *Problem {
	return &Problem{
		Kind: Edited, Seq: before.Seq, ID: before.ID, EventID: before.EventID,
		Detail: fmt.Sprintf("the row was replaced together with its hash: the event at %d stands on another", next),
	}
}

func missing(from, through int64) string {
	if from == through {
		return fmt.Sprintf("the event at %d is gone", from)
	}
	return fmt.Sprintf("the events from %d to %d are gone", from, through)
}

// errStop ends a reading that has found what it looked for.
var errStop = errors.New("stopped")

// chainCheck verifies all of a chain, several pages at once.
type chainCheck struct {
	chain   Chain
	workers int
	wanted  []int64          // places whose hash is wanted, in order
	marks   map[int64]string // what was found there

	hash   string // of the last good row, or of what was pruned
	last   Place
	events int64
	first  int64
}

// run gives the first problem, nil for none.
func (c *chainCheck) run(ctx context.Context, after, through int64) (*Problem, error) {
	for after < through {
		var pages []*page
		for len(pages) < c.workers && after < through {
			p := &page{after: after, through: min(after+verifyPage, through), marks: map[int64]string{}}
			for i, _ := slices.BinarySearch(c.wanted, p.after+1); i < len(c.wanted) && c.wanted[i] <= p.through; i++ {
				p.marks[c.wanted[i]] = ""
			}
			pages = append(pages, p)
			after = p.through
		}
		if err := c.side(ctx, pages); err != nil {
			return nil, err
		}
		for _, p := range pages {
			if problem := c.join(p); problem != nil {
				return problem, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // no problem is no error
}

// side checks pages side by side.
func (c *chainCheck) side(ctx context.Context, pages []*page) error {
	errs := make([]error, len(pages))
	var wg sync.WaitGroup
	for i, p := range pages {
		wg.Go(func() { errs[i] = p.check(ctx, c.chain) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// join puts a page at the end of what is verified.
func (c *chainCheck) join(p *page) *Problem {
	if p.events > 0 && p.firstPrev != c.hash {
		if c.last.Seq == 0 {
			return &Problem{Kind: Rewritten, Seq: p.first.Seq, ID: p.first.ID, EventID: p.first.EventID, Detail: "the first event does not stand on what was before it"}
		}
		return parted(c.last, p.first.Seq)
	}
	for seq, hash := range p.marks {
		c.marks[seq] = hash
	}
	if p.events > 0 {
		if c.first == 0 {
			c.first = p.first.Seq
		}
		c.hash, c.last = p.lastHash, p.last
		c.events += p.events
	}
	return p.problem
}

// classify finds out more about the first wrong row, by reading all others once.
func (c *chainCheck) classify(ctx context.Context, found *Problem, through int64) error {
	if found.Kind != Edited {
		return nil
	}
	var wrong *Record
	err := c.chain.AuditRecords(ctx, found.Seq-1, found.Seq, func(r *Record) error {
		if r.ID == found.ID {
			w := *r
			wrong = &w
		}
		return nil
	})
	if err != nil || wrong == nil {
		return err
	}
	h := NewHasher()
	if h.Hash(wrong.PrevHash, wrong.Seq, wrong) == wrong.Hash {
		return nil // replaced with its hash
	}
	for seq := int64(1); seq <= through+1; seq++ {
		if h.Hash(wrong.PrevHash, seq, wrong) == wrong.Hash {
			found.Kind, found.Detail = Reordered, fmt.Sprintf("the event was sealed at %d and is at %d", seq, wrong.Seq)
			if seq == wrong.Seq+1 {
				return c.renumbered(ctx, found, seq)
			}
			return nil
		}
	}
	err = c.chain.AuditRecords(ctx, c.startOf(found), through, func(r *Record) error {
		switch {
		case r.Seq == wrong.Seq:
			return nil
		case h.Hash(r.PrevHash, r.Seq, wrong) == r.Hash:
			found.Kind, found.Detail = Reordered, fmt.Sprintf("what the row says was sealed at %d", r.Seq)
		case r.Seq == wrong.Seq+1 && h.Hash(r.PrevHash, wrong.Seq, r) == r.Hash:
			found.Kind, found.Detail = Inserted, fmt.Sprintf("the event was never sealed: what was sealed at %d is at %d", wrong.Seq, r.Seq)
		default:
			return nil
		}
		return errStop
	})
	if found.Kind != Edited {
		return nil
	}
	return err
}

// startOf: nothing before the first wrong row was changed, but for the row it was swapped with.
func (c *chainCheck) startOf(found *Problem) int64 { return found.Seq - 1 }

// renumbered tells a row that took the place of a removed one from one that was swapped with the next.
func (c *chainCheck) renumbered(ctx context.Context, found *Problem, sealed int64) error {
	h := NewHasher()
	return c.chain.AuditRecords(ctx, sealed-1, sealed, func(r *Record) error {
		if h.Hash(r.PrevHash, sealed+1, r) == r.Hash {
			found.Kind, found.Detail = Removed, fmt.Sprintf("the event that was sealed at %d is gone, and those after it were renumbered", found.Seq)
		}
		return nil
	})
}
