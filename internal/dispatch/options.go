package dispatch

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options tune a Dispatcher. Zero fields mean the defaults.
type Options struct {
	// PollInterval is how often the outbox is read without a Wake: for commits of other processes. Default 500 ms.
	PollInterval time.Duration
	// Parallel bounds the starts under way at once. Default 8.
	Parallel int
	// SingleRate is how many workflows of one table each are started a second in the long run; what comes faster is
	// batched, because a batch costs little more than one of them. Default 10.
	SingleRate float64
	// BatchThreshold is the number of waiting events above which they are batched at once, how many starts of one table may
	// follow each other before SingleRate binds, and how many of the newest commits pass a backlog together. Default 20.
	BatchThreshold int
	// BatchSize is the most commits in one batch. Default 100.
	BatchSize int
	// Batches bounds the batches that are started and have not ended, beside two of the newest commits. Default 4, or the
	// processors of the machine if those are more.
	Batches int
	// BatchPatience is how long a batch counts as not ended at most. Default 30 s.
	BatchPatience time.Duration
	// BatchLinger is how long events gather after a batch that did not clear a backlog. Default 250 ms.
	BatchLinger time.Duration
	// StartTimeout bounds one start. Default 5 s.
	StartTimeout time.Duration
	// Lease is how long claimed events are this dispatcher's: those of a process that died are started by others after it. At
	// least twice StartTimeout. Default 30 s.
	Lease time.Duration
	// BackoffFirst and BackoffMost bound the waits while Temporal or the database is down. Default 250 ms and 15 s.
	BackoffFirst, BackoffMost time.Duration
	// Registerer receives the metrics; nil drops them.
	Registerer prometheus.Registerer
	Logger     *slog.Logger     // default slog.Default()
	Now        func() time.Time // default time.Now
}

func (o Options) withDefaults() Options {
	o.PollInterval = orDefault(o.PollInterval, 500*time.Millisecond)
	o.Parallel = orDefault(o.Parallel, 8)
	o.SingleRate = orDefault(o.SingleRate, 10)
	o.BatchThreshold = orDefault(o.BatchThreshold, 20)
	o.BatchSize = orDefault(o.BatchSize, 100)
	o.Batches = orDefault(o.Batches, max(4, runtime.GOMAXPROCS(0)))
	o.BatchPatience = orDefault(o.BatchPatience, 30*time.Second)
	o.BatchLinger = orDefault(o.BatchLinger, 250*time.Millisecond)
	o.StartTimeout = orDefault(o.StartTimeout, 5*time.Second)
	o.Lease = max(orDefault(o.Lease, 30*time.Second), 2*o.StartTimeout)
	o.BackoffFirst = orDefault(o.BackoffFirst, 250*time.Millisecond)
	o.BackoffMost = orDefault(o.BackoffMost, 15*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func orDefault[T int | float64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}
