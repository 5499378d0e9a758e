package dataplane

import (
	"context"
	"slices"
	"time"
)

const (
	// renewEvery is how often a write asks again for what is kept for it, well before its time is over.
	renewEvery = 1500 * time.Millisecond
	// keepFor is how long a write has its tables kept at most. One that has not landed by then takes longer than others
	// wait, and would only hold them up.
	keepFor = time.Minute
)

// tables gives the ids of the tables that a landing commits to, in order.
func (l *landing) tables() (ids []string) {
	if l.write.Rows > 0 {
		ids = append(ids, l.write.TableID)
	}
	if l.aside != nil {
		ids = append(ids, l.aside.rowID)
	}
	slices.Sort(ids)
	return ids
}

// keeping has the tables of one write kept for it, for as long as this process lives.
type keeping struct {
	s      *Service
	holder string
	tables []string
	until  time.Time // zero: nothing was asked for
	stop   func()    // renewing; nil: nothing is kept
}

// ask tells whether all are kept for the write now, and has them kept from then on, for a time.
func (k *keeping) ask(ctx context.Context) bool {
	switch {
	case k.until.IsZero():
		k.until = time.Now().Add(k.s.writes.keepFor)
		k.stop = k.renew(ctx)
	case time.Now().After(k.until):
		k.end(ctx)
		return false
	}
	return k.reserve(ctx)
}

// reserve asks for the tables in one order, as everybody does, so that no two writes wait for each other. Where that fails
// another attempt shows whether anything else does: it says nothing of the write.
func (k *keeping) reserve(ctx context.Context) bool {
	for _, id := range k.tables {
		kept, err := k.s.Catalog.Reserve(ctx, id, k.holder)
		if err != nil && ctx.Err() == nil {
			k.s.Log.WarnContext(ctx, "a table cannot be reserved for a write", "table", id, "write", k.holder, "error", err)
		}
		if err != nil || !kept {
			return false
		}
	}
	return true
}

// renew reserves again and again, until the function that it gives is called or the time is over.
func (k *keeping) renew(ctx context.Context) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if time.Now().After(k.until) {
					return
				}
				k.reserve(ctx)
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// end gives back what is kept, also where the answer was lost.
func (k *keeping) end(ctx context.Context) {
	if k.stop == nil {
		return
	}
	k.stop()
	k.stop = nil
	for _, id := range k.tables {
		k.s.Catalog.Release(ctx, id, k.holder)
	}
}
