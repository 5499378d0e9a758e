package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/icebergtest"
)

// Target is a table that writers append to.
type Target struct{ Namespace, Name, UUID string }

// Journal is what the writers were told, and what they should never have been told.
type Journal struct {
	mu       sync.Mutex
	sent     []Sent
	doubts   map[int]bool // commits that were answered by nothing or 5xx at least once
	found    int          // of them, those that a look showed to have landed
	problems []error
}

func (j *Journal) add(s Sent) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent = append(j.sent, s)
	return len(j.sent) - 1
}

func (j *Journal) settle(i int, f Fate) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent[i].Fate = f
}

func (j *Journal) fate(i int) Fate {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sent[i].Fate
}

// Count counts the commits of a fate so far.
func (j *Journal) Count(f Fate) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.sent {
		if s.Fate == f {
			n++
		}
	}
	return n
}

func (j *Journal) doubt(i int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.doubts == nil {
		j.doubts = map[int]bool{}
	}
	j.doubts[i] = true
}

func (j *Journal) foundLanded() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.found++
}

// Doubts gives how many commits had no clear answer at first, and how many of them a writer then saw in the table.
func (j *Journal) Doubts() (all, found int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.doubts), j.found
}

func (j *Journal) problem(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.problems = append(j.problems, fmt.Errorf(format, args...))
}

// Sent gives the commits so far.
func (j *Journal) Sent() []Sent {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Sent(nil), j.sent...)
}

// Problems gives the answers that no engine should have got.
func (j *Journal) Problems() []error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]error(nil), j.problems...)
}

// Connection gives the current client and a number that grows with every start of the server.
type Connection func() (c *product.Client, start int64)

// Writer appends to a table as an engine does: it refreshes and tries anew on 409, and when the outcome is in doubt it
// sends the same commit again or looks whether it landed.
type Writer struct {
	Rand    *rand.Rand
	Connect Connection
	Journal *Journal
	Pause   time.Duration // at most, between two commits
	Stream  Stream        // what it writes; nil is plain appends
}

// Run appends until ctx ends; target may change from call to call. What is under way at the end is carried through to a
// known fate.
func (w *Writer) Run(ctx context.Context, target func() Target) {
	for ctx.Err() == nil {
		if err := w.append(context.WithoutCancel(ctx), target()); err != nil {
			w.Journal.problem("%w", err)
			return
		}
		time.Sleep(time.Duration(w.Rand.Int64N(int64(w.Pause) + 1)))
	}
}

func (w *Writer) append(ctx context.Context, t Target) error {
	table, err := w.load(ctx, t)
	if err != nil {
		return err
	}
	commit, err := files(w.Stream).Append(table, 1+w.Rand.IntN(3), 1+w.Rand.Int64N(1000))
	if err != nil {
		return err
	}
	i := w.Journal.add(sentOf(table.UUID, commit, Unknown))
	if err := w.send(ctx, t, commit, i); err != nil {
		return err
	}
	if w.Stream != nil && w.Journal.fate(i) == Acknowledged {
		w.Stream.Landed(w.Rand)
	}
	return nil
}

// files writes the files of a stream's commits, data files too.
func files(s Stream) icebergtest.Writer {
	out := icebergtest.LocalFiles()
	out.Data = true
	if s != nil {
		out.Summary = s.Summary()
	}
	return out
}

func sentOf(uuid string, c icebergtest.Commit, fate Fate) Sent {
	return Sent{TableUUID: uuid, SnapshotID: c.SnapshotID, ManifestList: c.ManifestList, Files: c.DataFiles, Rows: c.Rows, Fate: fate}
}

// send sends a commit until its fate is known.
func (w *Writer) send(ctx context.Context, t Target, commit icebergtest.Commit, i int) error {
	body := commit.Body()
	for deadline := time.Now().Add(giveUp); time.Now().Before(deadline); {
		c, start := w.Connect()
		err := c.Commit(ctx, t.Namespace, t.Name, body)
		switch code := codeOf(err); {
		case err == nil:
			w.Journal.settle(i, Acknowledged)
			return w.sendAgain(ctx, t, body)
		case code == http.StatusConflict:
			w.Journal.settle(i, Refused)
			return nil
		case !inDoubt(code):
			return fmt.Errorf("append %d to %s: %w", commit.SnapshotID, t.Name, err)
		}
		w.Journal.doubt(i)
		w.wait()
		if w.Rand.IntN(2) == 0 {
			continue
		}
		fate, err := w.look(ctx, t, commit.SnapshotID, start)
		if err != nil {
			return err
		}
		if fate == Acknowledged {
			w.Journal.foundLanded()
		}
		if fate != Unknown {
			w.Journal.settle(i, fate)
			return nil
		}
	}
	return fmt.Errorf("append %d to %s: no answer for %s", commit.SnapshotID, t.Name, giveUp)
}

// giveUp is when a writer finds that the server does not come back.
const giveUp = 2 * time.Minute

// sendAgain repeats some acknowledged commits, as a proxy or an engine does that missed the answer: 200 again, no change.
func (w *Writer) sendAgain(ctx context.Context, t Target, body []byte) error {
	if w.Rand.IntN(10) > 0 {
		return nil
	}
	c, _ := w.Connect()
	if err := c.Commit(ctx, t.Namespace, t.Name, body); err != nil && !inDoubt(codeOf(err)) {
		return fmt.Errorf("an acknowledged append to %s was refused when it was sent again: %w", t.Name, err)
	}
	return nil
}

// look tells whether a commit is in the table. Absence is final only when the server that got it is gone.
func (w *Writer) look(ctx context.Context, t Target, snapshot, start int64) (Fate, error) {
	_, now := w.Connect()
	table, err := w.load(ctx, t)
	switch {
	case err != nil:
		return Unknown, err
	case table.ManifestList(snapshot) != "":
		return Acknowledged, nil
	case now > start:
		return Refused, nil
	}
	return Unknown, nil
}

// load reads the table, waiting for the server while it is down.
func (w *Writer) load(ctx context.Context, t Target) (icebergtest.Table, error) {
	var err error
	for deadline := time.Now().Add(giveUp); time.Now().Before(deadline); w.wait() {
		c, _ := w.Connect()
		var loaded product.Loaded
		if loaded, err = c.LoadTable(ctx, t.Namespace, t.Name); err == nil {
			return icebergtest.Parse(loaded.Metadata)
		}
		if !inDoubt(codeOf(err)) {
			break
		}
	}
	return icebergtest.Table{}, fmt.Errorf("load %s: %w", t.Name, err)
}

func (w *Writer) wait() {
	time.Sleep(20*time.Millisecond + time.Duration(w.Rand.IntN(80))*time.Millisecond)
}

// codeOf gives the HTTP status of an error, 0 for a lost connection.
func codeOf(err error) int {
	var status *product.StatusError
	if errors.As(err, &status) {
		return status.Code
	}
	return 0
}

func inDoubt(code int) bool { return code == 0 || code >= 500 || code == http.StatusTooManyRequests }
