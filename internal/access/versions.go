package access

import (
	"context"
	"sync"
	"time"
)

// versionTimeout bounds one read of the version: all requests wait for it.
const versionTimeout = 10 * time.Second

// versions reads the version of all rights, once for all requests that wait for it. A request is never answered by a
// read that began before it arrived, so that what was withdrawn before then does not count for it.
type versions struct {
	read func(context.Context) (int64, error)

	mu      sync.Mutex
	running bool
	next    *versionRead // that begins when the running one is done

	// Of the one read that is running. last is what the read before it found; a database that was restored from a backup
	// counts from further back, and shift keeps what is given growing, so that nothing from before is held to be newer.
	last, shift int64
}

type versionRead struct {
	done    chan struct{}
	version int64
	err     error
}

func newVersions(read func(context.Context) (int64, error)) *versions { return &versions{read: read} }

// current gives the version by a read that begins now or later.
func (v *versions) current(ctx context.Context) (int64, error) {
	shared := v.join()
	if shared == nil {
		defer v.done(ctx)
		return v.growing(ctx)
	}
	select {
	case <-shared.done:
		return shared.version, shared.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// join gives the read that begins after the running one; nil when none runs, and then the asker's own runs from now on,
// which nobody else waits for.
func (v *versions) join() *versionRead {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.running {
		v.running = true
		return nil
	}
	if v.next == nil {
		v.next = &versionRead{done: make(chan struct{})}
	}
	return v.next
}

// done begins the read that others asked for while one ran.
func (v *versions) done(ctx context.Context) {
	if r := v.following(); r != nil {
		go v.run(context.WithoutCancel(ctx), r)
	}
}

// run does a read for all who wait for it, which does not end with the request of any, and those that follow.
func (v *versions) run(ctx context.Context, r *versionRead) {
	for ; r != nil; r = v.following() {
		bounded, cancel := context.WithTimeout(ctx, versionTimeout)
		r.version, r.err = v.growing(bounded)
		cancel()
		close(r.done)
	}
}

// following gives the read that is to run now, nil for none.
func (v *versions) following() *versionRead {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.next
	v.next, v.running = nil, r != nil
	return r
}

func (v *versions) growing(ctx context.Context) (int64, error) {
	version, err := v.read(ctx)
	if err != nil {
		return 0, err
	}
	if version < v.last {
		v.shift += v.last - version + 1
	}
	v.last = version
	return version + v.shift, nil
}
