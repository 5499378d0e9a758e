package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/e2e/temporald"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

// Cluster is an installation of separate programs, each of which is killed and started again: a PostgreSQL, a Temporal,
// and as many apis and workers as it has members of.
type Cluster struct {
	Programs *product.External
	postgres *pgtest.Server
	temporal *temporald.Server
	parts    []part
	apis     []*apiPart
}

// part is something that can be killed and started again.
type part interface {
	name() string
	kill()
	start(ctx context.Context) error
	// ended tells whether it ended without being killed, and its last words.
	ended() (bool, string)
}

// each is how many apis and workers there are.
const each = 2

// StartCluster starts everything, its files in a folder; env is of the apis and workers.
func StartCluster(ctx context.Context, binary, folder string, env ...string) (*Cluster, error) {
	c := &Cluster{}
	var err error
	if c.postgres, err = pgtest.Start(ctx, pgtest.Options{Durable: true}); err != nil {
		return nil, err
	}
	if c.temporal, err = temporald.Start(ctx, filepath.Join(folder, "temporal")); err != nil {
		c.Stop()
		return nil, err
	}
	c.Programs = &product.External{
		Binary: binary, Folder: folder, DatabaseURL: c.postgres.URL(), TemporalAddress: c.temporal.Address(), Env: env,
	}
	if err := c.Programs.Prepare(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	c.parts = []part{postgresPart{c.postgres}, temporalPart{c.temporal}}
	for i := range each {
		a := &apiPart{programs: c.Programs, label: fmt.Sprintf("api %d", i+1)}
		c.apis = append(c.apis, a)
		c.parts = append(c.parts, a, &workerPart{programs: c.Programs, label: fmt.Sprintf("worker %d", i+1)})
	}
	for _, p := range c.parts[2:] {
		if err := p.start(ctx); err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// Stop ends everything at once.
func (c *Cluster) Stop() {
	for _, p := range c.parts {
		if _, ok := p.(postgresPart); !ok {
			p.kill()
		}
	}
	if len(c.parts) == 0 && c.temporal != nil {
		c.temporal.Kill()
	}
	c.postgres.Stop()
}

// Connect gives a writer of any number its api.
func (c *Cluster) Connect(i int) Connection { return c.apis[i%len(c.apis)].connect }

// Ended tells which parts ended by themselves, with their last words.
func (c *Cluster) Ended() (out []string) {
	for _, p := range c.parts {
		if ended, words := p.ended(); ended {
			out = append(out, p.name()+": "+words)
		}
	}
	return out
}

// Strike kills some parts at once and starts them again after a while, what others need first. What they are is told.
func (c *Cluster) Strike(ctx context.Context, r *rand.Rand, some []int) (names []string, err error) {
	for _, i := range some {
		names = append(names, c.parts[i].name())
		c.parts[i].kill()
	}
	time.Sleep(time.Duration(r.Int64N(int64(1500 * time.Millisecond))))
	for _, i := range slices.Sorted(slices.Values(some)) {
		if err := c.revive(ctx, c.parts[i]); err != nil {
			return names, fmt.Errorf("%s does not come back: %w", c.parts[i].name(), err)
		}
	}
	return names, nil
}

// revive tries until a part is there: a program that needs another one may end while that is down.
func (c *Cluster) revive(ctx context.Context, p part) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	var last error
	for ctx.Err() == nil {
		if last = p.start(ctx); last == nil {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return errors.Join(ctx.Err(), last)
}

type postgresPart struct{ server *pgtest.Server }

func (p postgresPart) name() string                    { return "PostgreSQL" }
func (p postgresPart) kill()                           { p.server.Kill() }
func (p postgresPart) start(ctx context.Context) error { return p.server.Restart(ctx) }
func (p postgresPart) ended() (bool, string)           { return false, "" }

type temporalPart struct{ server *temporald.Server }

func (p temporalPart) name() string                    { return "Temporal" }
func (p temporalPart) kill()                           { p.server.Kill() }
func (p temporalPart) start(ctx context.Context) error { return p.server.Restart(ctx) }
func (p temporalPart) ended() (bool, string)           { return hasEnded(p.server.Process()) }

type workerPart struct {
	programs *product.External
	label    string
	process  *product.Process
}

func (p *workerPart) name() string { return p.label }

func (p *workerPart) kill() { killed(p.process) }

func (p *workerPart) start(ctx context.Context) (err error) {
	p.process, err = p.programs.Worker(ctx)
	return err
}

func (p *workerPart) ended() (bool, string) { return hasEnded(p.process) }

type apiPart struct {
	programs *product.External
	label    string
	process  *product.Process
	starts   int64
	current  atomic.Pointer[connected]
}

// settled is after how long nothing of a killed api is under way in the database any more: a COMMIT that it had sent is done
// or lost. Writers take what they do not see then for lost.
const settled = time.Second

func (p *apiPart) connect() (*product.Client, int64) {
	c := p.current.Load()
	return c.client, c.start
}

func (p *apiPart) name() string { return p.label }

func (p *apiPart) kill() { killed(p.process) }

func (p *apiPart) start(ctx context.Context) error {
	process, client, err := p.programs.API(ctx)
	if err != nil {
		return err
	}
	time.Sleep(settled)
	p.process = process
	p.starts++
	p.current.Store(&connected{client, p.starts})
	return nil
}

func (p *apiPart) ended() (bool, string) { return hasEnded(p.process) }

func killed(p *product.Process) {
	if p != nil {
		p.Kill()
	}
}

func hasEnded(p *product.Process) (bool, string) {
	select {
	case <-p.Exited():
		return true, p.Tail(2000)
	default:
		return false, ""
	}
}
