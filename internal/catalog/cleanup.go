package catalog

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/metadata"
)

const (
	mostCleanups  = 10_000           // files that wait to be removed; more are left behind
	cleanupWithin = 30 * time.Second // for one file
)

// outdated gives the metadata files that a commit made obsolete: those that fell out of the metadata log, where the table
// says write.metadata.delete-after-commit.enabled. Of a table that was registered or moved all stay: its log came with it
// and may name anything, live data and other tables' files too.
func (s *Service) outdated(p *plan) []string {
	if p.base == nil || p.row.ForeignFiles || !strings.EqualFold(p.next.Properties()["write.metadata.delete-after-commit.enabled"], "true") {
		return nil
	}
	kept := map[string]bool{p.row.MetadataLocation: true}
	for _, entry := range p.next.MetadataLog() {
		kept[entry.File] = true
	}
	ours := p.row.CreatedAt.UnixMilli()
	var out []string
	for _, entry := range p.base.MetadataLog() {
		own := metadata.MetadataLocationVersion(entry.File) >= 0 && s.locations.Within(p.row.Location, entry.File)
		if own && !kept[entry.File] && entry.TimestampMs >= ours {
			out = append(out, entry.File)
		}
	}
	return out
}

// cleaner removes files in the background, best effort: a commit does not wait for it, and what a crash leaves behind is
// garbage that nothing refers to.
type cleaner struct {
	files Files
	log   *slog.Logger

	mu      sync.Mutex
	queue   []string
	running bool
	idle    sync.WaitGroup
}

func (c *cleaner) remove(locations []string) {
	if len(locations) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue)+len(locations) > mostCleanups {
		c.log.Warn("metadata files stay behind: more are outdated than can be removed", "files", len(locations))
		return
	}
	c.queue = append(c.queue, locations...)
	if !c.running {
		c.running = true
		c.idle.Go(c.run)
	}
}

func (c *cleaner) run() {
	for {
		c.mu.Lock()
		batch := c.queue
		c.queue = nil
		c.running = len(batch) > 0
		c.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, location := range batch {
			c.removeOne(location)
		}
	}
}

func (c *cleaner) removeOne(location string) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupWithin)
	defer cancel()
	if err := c.files.DeleteFile(ctx, location); err != nil {
		c.log.Warn("an outdated metadata file stays behind", "location", location, "error", err)
	}
}

// Drain waits until the files that commits made obsolete are removed, or ctx ends.
func (s *Service) Drain(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.cleaner.idle.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
