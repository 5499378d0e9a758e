package reconcile

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/sluice-data/sluice/internal/fault"
)

// Limits on the memory and time that files cost which anyone who may commit can write.
const (
	// maxFile is the most that a manifest or manifest list may have in storage, in bytes. Manifests aim at 8 MB.
	maxFile = 64 << 20
	// firstGuess is the least that is set aside for a file, and for one of unknown size; a larger one is asked for again.
	firstGuess = 1 << 20
	// maxInFlight bounds the files of one reader that are in memory at a time, in bytes.
	maxInFlight = 128 << 20
	// maxInflated is the most that a file may unpack to, in bytes. It is read in small parts.
	maxInflated = 256 << 20
	// maxBlock bounds a block where a whole one is unpacked, in bytes. Writers make blocks of some 10 KB to a few MB.
	maxBlock = 64 << 20
	// maxRatio is how much smaller than its content a file may be that unpacks to more than smallFile bytes.
	maxRatio  = 100
	smallFile = 8 << 20
	// maxRecord bounds one entry of a manifest or manifest list, in bytes: those with metrics of 10,000 columns stay below.
	maxRecord = 4 << 20
	// maxListed bounds what a decoded manifest list holds, in bytes: some 150,000 manifests.
	maxListed = 64 << 20
	// maxInspected bounds what the manifests of one commit unpack to together, in bytes.
	maxInspected = 1 << 30
	// maxKept bounds the files of before that a commit may carry over in new manifests and still be verified.
	maxKept = 200_000
	// mergesAtOnce bounds the commits whose carried over files are held in memory at a time.
	mergesAtOnce = 4
	// maxOwners bounds the snapshots that the entries of one manifest are counted for apart.
	maxOwners = 10_000
	// maxFileRows bounds what one data file may claim to hold, so that no few files can make a sum of rows overflow.
	maxFileRows = int64(1) << 40
)

// inflateLimit is what a file with so many bytes of blocks may unpack to.
func inflateLimit(packed int) int64 {
	return min(maxInflated, max(smallFile, maxRatio*int64(packed)))
}

// budget shares memory between all who read through one source. Files and what unpacking them takes are apart: who holds
// a file may wait to unpack it, never the other way round.
type budget struct {
	files, unpacked *semaphore.Weighted
}

func newBudget() *budget {
	return &budget{semaphore.NewWeighted(maxInFlight), semaphore.NewWeighted(maxInFlight)}
}

// hold waits for so many bytes, or for the end of ctx.
func hold(ctx context.Context, from *semaphore.Weighted, bytes int64) (release func(), err error) {
	bytes = min(max(bytes, 1), maxInFlight)
	if err := from.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { from.Release(bytes) }, nil
}

// meter counts what the files of one commit unpack to; nil counts nothing.
type meter struct{ left atomic.Int64 }

func newMeter() *meter {
	m := &meter{}
	m.left.Store(maxInspected)
	return m
}

// spend takes bytes that were unpacked.
func (m *meter) spend(bytes int64) error {
	if m == nil || m.left.Add(-bytes) >= 0 {
		return nil
	}
	return fault.New(fault.TooLarge, "The manifests of this commit hold more than %d MB to check. Commit the work in smaller steps.",
		maxInspected>>20)
}
