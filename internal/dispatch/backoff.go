package dispatch

import (
	"math/rand/v2"
	"time"
)

// backoff gives waits that double up to a limit, each shortened by up to half at random, so that many processes do not come
// back at the same moment.
type backoff struct {
	first, most, next time.Duration
}

func (b *backoff) wait() time.Duration {
	if b.next == 0 {
		b.next = b.first
	}
	w := b.next
	b.next = min(2*b.next, b.most)
	return w/2 + rand.N(w/2+1)
}

func (b *backoff) reset() { b.next = 0 }
