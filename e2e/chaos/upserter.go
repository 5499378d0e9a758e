package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	guid "github.com/google/uuid"

	"github.com/sluice-data/sluice/e2e/product"
)

// GovernedWrite is rows that were written through the data plane, each JSON by its id, and what all answers said of it.
type GovernedWrite struct {
	Rows   map[int]string
	Append bool // of rows that no other write has
	Result product.WriteResult
}

// Upserter writes rows of one table through several apis in turn, most of them upserts of ids that others write too. Each
// write is sent under its key to one api after the other until one answers; some are sent once more, or with another body.
type Upserter struct {
	Number  int // among those of the table
	Rand    *rand.Rand
	APIs    []Connection
	Target  Target
	IDs     int // those of upserts are below
	Pause   time.Duration
	Written []GovernedWrite
	Repeats int           // requests that were sent again for want of an answer
	Longest time.Duration // that a write took
	Problem error         // that ended it
}

// Run writes until ctx ends; what is under way then is carried through.
func (u *Upserter) Run(ctx context.Context) {
	for ctx.Err() == nil && u.Problem == nil {
		w, began := u.next(), time.Now()
		if u.Problem = u.land(context.WithoutCancel(ctx), &w); u.Problem == nil {
			u.Written = append(u.Written, w)
		}
		u.Longest = max(u.Longest, time.Since(began))
		time.Sleep(time.Duration(u.Rand.Int64N(int64(u.Pause) + 1)))
	}
}

func (u *Upserter) next() GovernedWrite {
	w := GovernedWrite{Rows: map[int]string{}, Append: u.Rand.IntN(5) == 0}
	for range 1 + u.Rand.IntN(6) {
		id := u.Rand.IntN(u.IDs)
		if w.Append {
			id = u.IDs * (2 + u.Number + 100*(len(u.Written)*10+len(w.Rows)))
		}
		w.Rows[id] = fmt.Sprintf(`{"id":"%d","name":"write %d of %d"}`, id, len(u.Written), u.Number)
	}
	return w
}

func (w *GovernedWrite) mode() string {
	if w.Append {
		return "append"
	}
	return "upsert"
}

func (w *GovernedWrite) lines() (out []string) {
	for _, line := range w.Rows {
		out = append(out, line)
	}
	return out
}

// land sends a write until it is answered.
func (u *Upserter) land(ctx context.Context, w *GovernedWrite) error {
	key, lines, turn := guid.NewString(), w.lines(), u.Rand.IntN(len(u.APIs))
	send := func(lines []string) (product.WriteResult, error) {
		c, _ := u.APIs[turn%len(u.APIs)]()
		turn++
		return c.WriteRows(ctx, u.Target.Namespace, u.Target.Name, w.mode(), key, lines)
	}
	until := func(lines []string) (out product.WriteResult, err error) {
		for deadline := time.Now().Add(giveUp); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if out, err = send(lines); err == nil || !inDoubt(codeOf(err)) {
				return out, err
			}
			u.Repeats++
		}
		return out, fmt.Errorf("no answer for %s: %w", giveUp, err)
	}
	var err error
	if w.Result, err = until(lines); err != nil {
		return fmt.Errorf("write %d of %d to %s: %w", len(u.Written), u.Number, u.Target.Name, err)
	}
	switch u.Rand.IntN(8) {
	case 0:
		again, err := until(lines)
		if err != nil || again != w.Result {
			return fmt.Errorf("a repeat was answered %+v, %w instead of %+v", again, err, w.Result)
		}
	case 1:
		other, err := until(append(lines, lines[0]))
		if codeOf(err) != http.StatusUnprocessableEntity {
			return fmt.Errorf("another body under a key was answered %+v, %w", other, err)
		}
	}
	return nil
}

// startUpserters starts them; the returned function ends them.
func startUpserters(ctx context.Context, all []*Upserter) func() {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, u := range all {
		wg.Go(func() { u.Run(ctx) })
	}
	return func() {
		cancel()
		wg.Wait()
	}
}
