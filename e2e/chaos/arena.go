package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/icebergtest"
)

const (
	readyWithin = 60 * time.Second
	stopWithin  = 15 * time.Second
)

// Arena is a serve on one data folder, which is killed and started again, and the tables that writers append to.
type Arena struct {
	Binary, Folder, Log string
	Args                []string

	process *product.Process
	starts  int64
	current atomic.Pointer[connected]
	targets atomic.Pointer[[]Target]
	created []string
}

type connected struct {
	client *product.Client
	start  int64
}

// Connect gives the client of the newest start.
func (a *Arena) Connect() (*product.Client, int64) {
	c := a.current.Load()
	return c.client, c.start
}

// Tables gives the uuids of all tables that were made.
func (a *Arena) Tables() []string { return a.created }

// Target gives writer i of any number its table: the first half of the writers share one.
func (a *Arena) Target(i, writers int) Target {
	targets := *a.targets.Load()
	return targets[max(0, i-writers/2)%len(targets)]
}

// Start starts the server without waiting for it.
func (a *Arena) Start() error {
	var err error
	a.process, err = product.Serve(a.Binary, a.Folder, a.Log, nil, a.Args...)
	a.starts++
	return err
}

// Ready waits for the server and shows it to the writers.
func (a *Arena) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	c, err := a.process.Ready(ctx, a.Folder)
	if err == nil {
		a.current.Store(&connected{c, a.starts})
	}
	return err
}

// Kill ends the server in the middle of whatever it does.
func (a *Arena) Kill() { a.process.Kill() }

// Stop ends the server as an operator does.
func (a *Arena) Stop() error { return a.process.Stop(stopWithin) }

// FreshTables makes new tables for the writers to go on with, so that none grows without end.
func (a *Arena) FreshTables(ctx context.Context, tables int) error {
	c, start := a.Connect()
	namespace := fmt.Sprintf("chaos_%d", start)
	if err := c.CreateNamespace(ctx, namespace); err != nil {
		return err
	}
	var targets []Target
	for i := range tables {
		t := Target{Namespace: namespace, Name: fmt.Sprintf("t%d", i)}
		loaded, err := c.CreateTable(ctx, namespace, t.Name, map[string]string{
			"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "5",
		})
		if err != nil {
			return err
		}
		parsed, err := icebergtest.Parse(loaded.Metadata)
		if err != nil {
			return err
		}
		t.UUID = parsed.UUID
		targets, a.created = append(targets, t), append(a.created, t.UUID)
	}
	a.targets.Store(&targets)
	return nil
}

// Database is the embedded database's file.
func (a *Arena) Database() string { return filepath.Join(a.Folder, "sluice.db") }

// Moment picks when to kill: mostly while writers are at work, sometimes before the server is ready.
func Moment(r *rand.Rand) (whileStarting bool, after time.Duration) {
	if r.IntN(4) == 0 {
		return true, time.Duration(r.Int64N(int64(1500 * time.Millisecond)))
	}
	return false, 100*time.Millisecond + time.Duration(r.Int64N(int64(2500*time.Millisecond)))
}
