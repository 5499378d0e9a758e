package dataplane

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Deps is what a Service needs; Log and Metrics may be nil. What only writes need is in WriteDeps.
type Deps struct {
	Catalog Catalog
	Reader  Reader
	Store   Store
	Tokens  Sealer // of page tokens
	Secrets Sealer // of the keys that data is hashed with
	Limits  Limits
	Metrics prometheus.Registerer
	Log     *slog.Logger
	Now     func() time.Time

	WriteDeps
}

// Service is the use cases of the governed data plane. It is safe for concurrent use.
type Service struct {
	Deps
	keys    *keys
	turns   *turns
	metrics *metrics
	writes  *writeState
}

// New makes a Service.
func New(d Deps) *Service {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		Deps: d, keys: &keys{store: d.Store, secrets: d.Secrets, known: map[string][]byte{}}, turns: newTurns(d.Limits.Concurrency),
		metrics: newMetrics(d.Metrics, d.Log), writes: newWriteState(d.Limits),
	}
	showMemory(d.Metrics, d.Log, "reads", d.Reader.Held)
	showMemory(d.Metrics, d.Log, "writes", s.writes.held)
	return s
}
