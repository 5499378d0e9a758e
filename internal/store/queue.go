package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/libtnb/sqlite"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
)

// maxGroup bounds how many mutations share a commit, and so how long one may wait for others.
const maxGroup = 64

// writeQueue is SQLite's only writer. While one commit waits for the disk, the mutations that arrive queue up; the
// next commit takes all of them, each within its own savepoint so that one's failure does not touch the others.
type writeQueue struct {
	pool *sql.DB
	conn *sql.Conn // pinned: statements prepared on it stay prepared
	db   *gorm.DB  // over conn
	jobs chan *job
	quit chan struct{}
	done chan struct{}

	closing sync.Once
}

// job is one mutation. claimed decides the race between the writer and a caller that gives up.
type job struct {
	ctx      context.Context
	fn       func(tx *gorm.DB) error
	claimed  atomic.Bool
	err      error
	panicked any
	finished chan struct{}
}

func newWriteQueue(ctx context.Context, dsn string, cfg Config) (*writeQueue, error) {
	pool, err := openOne(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	db, err := gorm.Open(sqlite.New(sqlite.Config{Conn: conn}), gormConfig(cfg, true))
	if err != nil {
		return nil, errors.Join(err, conn.Close(), pool.Close())
	}
	q := &writeQueue{
		pool: pool, conn: conn, db: db,
		jobs: make(chan *job), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go q.serve() //nolint:contextcheck // every job brings its own
	return q, nil
}

// write hands fn to the writer and waits for its commit. A caller whose context ends while fn still queues gets
// the context's error and fn never runs; once it runs it is seen through.
func (q *writeQueue) write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	j := &job{ctx: ctx, fn: fn, finished: make(chan struct{})}
	select {
	case q.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.quit:
		return fault.New(fault.Unavailable, "Sluice is shutting down: try again.")
	}
	select {
	case <-j.finished:
	case <-ctx.Done():
		if j.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-j.finished
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

func (q *writeQueue) close() error {
	q.closing.Do(func() { close(q.quit) })
	<-q.done
	// The connection stays open, with its log, for as long as it has statements; database/sql does not know those that
	// were prepared on a pinned connection.
	q.closeStatements()
	_, err := q.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, q.conn.Close(), q.pool.Close())
}

// closeStatements closes what GORM keeps prepared. Its own Close does that in the background, too late.
func (q *writeQueue) closeStatements() {
	kept, ok := q.db.ConnPool.(*gorm.PreparedStmtDB)
	if !ok {
		return
	}
	for _, key := range kept.Stmts.Keys() {
		if statement, ok := kept.Stmts.Get(key); ok && statement.Stmt != nil {
			_ = statement.Close()
		}
	}
}

func (q *writeQueue) serve() {
	defer close(q.done)
	for {
		select {
		case <-q.quit:
			return
		case first := <-q.jobs:
			q.run(q.gather(first))
		}
	}
}

// gather claims the first job and those that wait behind it. jobs has no buffer: who is not gathered still waits.
func (q *writeQueue) gather(first *job) []*job {
	var group []*job
	for next := first; next != nil; {
		if next.claimed.CompareAndSwap(false, true) {
			group = append(group, next)
		}
		if len(group) >= maxGroup {
			break
		}
		select {
		case next = <-q.jobs:
		default:
			next = nil
		}
	}
	return group
}

// run puts the group into one transaction and tells each job how it ended.
func (q *writeQueue) run(group []*job) {
	if len(group) == 0 {
		return
	}
	defer func() {
		for _, j := range group {
			close(j.finished)
		}
	}()
	if err := q.exec("BEGIN IMMEDIATE"); err != nil {
		failAll(group, err)
		return
	}
	written := 0
	for _, j := range group {
		broken := q.runOne(j)
		if broken != nil {
			_ = q.exec("ROLLBACK")
			failAll(group, broken)
			return
		}
		if j.err == nil && j.panicked == nil {
			written++
		}
	}
	if written == 0 {
		_ = q.exec("ROLLBACK")
		return
	}
	if err := q.exec("COMMIT"); err != nil {
		_ = q.exec("ROLLBACK")
		failAll(group, sqliteCommitError(err))
	}
}

// runOne runs one job in a savepoint. Its own failure is the job's; broken is set when the transaction is lost with
// everything in it, as when the disk is full.
func (q *writeQueue) runOne(j *job) (broken error) {
	if j.err = j.ctx.Err(); j.err != nil {
		return nil
	}
	if err := q.exec("SAVEPOINT job"); err != nil {
		return err
	}
	j.attempt(q.db)
	if j.err != nil || j.panicked != nil {
		if err := q.exec("ROLLBACK TO job"); err != nil {
			return errors.Join(err, j.err)
		}
	}
	return q.exec("RELEASE job")
}

// attempt calls fn with a context that cannot end: interrupting a statement would roll back the whole group.
func (j *job) attempt(db *gorm.DB) {
	defer func() { j.panicked = recover() }()
	j.err = j.fn(db.WithContext(context.WithoutCancel(j.ctx)))
}

func (q *writeQueue) exec(statement string) error {
	return q.db.Exec(statement).Error
}

// failAll gives err to every job that had not failed by itself: nothing of the group was kept.
func failAll(group []*job, err error) {
	for _, j := range group {
		if j.err == nil {
			j.err = err
		}
	}
}
