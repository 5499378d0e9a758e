package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sluice-data/sluice/api"
)

const (
	// probeEvery bounds how often readiness writes: whoever asks more often gets what was found last.
	probeEvery = 5 * time.Second
	// probeTimeout bounds one try. Slow is not broken: what was found last holds until a second try is late too.
	probeTimeout = time.Second
	// probeFile and probeBytes are what readiness writes into a local warehouse, about as much as a commit does.
	probeFile  = ".sluice-ready"
	probeBytes = 64 << 10
)

// probe tries something now and then and remembers how it ended.
type probe struct {
	try func(context.Context) error
	now func() time.Time

	mu   sync.Mutex
	at   time.Time
	err  error
	late int
}

func newProbe(try func(context.Context) error, now func() time.Time) *probe {
	return &probe{try: try, now: now}
}

// run gives how the last try ended, which is at most probeEvery old.
func (p *probe) run(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.at.IsZero() && p.now().Sub(p.at) < probeEvery {
		return p.err
	}
	// Whoever asks may hang up; what is found is for the next one too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	err := p.try(ctx)
	p.at = p.now()
	if err != nil && ctx.Err() != nil {
		if p.late++; p.late < 2 {
			return p.err
		}
	} else {
		p.late = 0
	}
	p.err = err
	return p.err
}

// writeChecks are part of readiness wherever commits are made or governed: they write, because what can only be read
// makes every commit fail.
func (b *base) writeChecks() []api.Check {
	checks := []api.Check{{Name: "database", Run: newProbe(b.store.Heartbeat, time.Now).run}}
	if folders := localFolders(b.roots); len(folders) > 0 {
		try := func(context.Context) error { return writeProbes(folders) }
		checks = append(checks, api.Check{Name: "warehouse", Run: newProbe(try, time.Now).run})
	}
	return checks
}

// localFolders gives the paths of those roots that are folders of this machine.
func localFolders(roots []string) []string {
	var folders []string
	for _, root := range roots {
		if folder, ok := strings.CutPrefix(root, "file://"); ok {
			folders = append(folders, folder)
		}
	}
	return folders
}

// writeProbes writes a file into each folder and removes it. Processes that share a folder write the same.
func writeProbes(folders []string) error {
	var errs []error
	for _, folder := range folders {
		file := filepath.Join(folder, probeFile)
		errs = append(errs, os.WriteFile(file, make([]byte, probeBytes), 0o600))
		if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
