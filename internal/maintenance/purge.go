package maintenance

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// parallelDeletes is how many files are deleted at once.
const parallelDeletes = 16

// Files is the object store. What is gone is fault.NotFound to ReadFile and Stat, and no error to DeleteFile.
type Files interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
	DeleteFile(ctx context.Context, location string) error
	Stat(ctx context.Context, location string) (objects.Info, error)
	List(ctx context.Context, prefix, after string, limit int) ([]objects.Info, error)
}

// Purger deletes the files of a table that left the catalog. It deletes only what lies inside the table's location and
// is in no set of files to keep. It is safe for concurrent use.
type Purger struct {
	files  Files
	reader *reconcile.Reader
	log    *slog.Logger
}

// NewPurger makes a Purger; log may be nil.
func NewPurger(files Files, log *slog.Logger) *Purger {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Purger{files: files, reader: reconcile.NewReader(files), log: log}
}

// Progress is how far one part of a purge is, and what it has deleted so far. A part that is interrupted begins at the
// progress it last reported.
type Progress struct {
	Done    int    `json:"done,omitempty"`    // manifests
	After   string `json:"after,omitempty"`   // location, of leftovers
	Files   int64  `json:"files,omitempty"`   // deleted
	Bytes   int64  `json:"bytes,omitempty"`   // of them
	Skipped bool   `json:"skipped,omitempty"` // nothing was deleted because the table says gc.enabled=false
}

// sized is a file to delete; negative bytes are not known.
type sized struct {
	location objects.Location
	bytes    int64
}

// DeleteData deletes the data and delete files that the manifests name, unless the table says gc.enabled=false.
func (p *Purger) DeleteData(ctx context.Context, t Table, kept FileSet, from Progress, beat func(Progress)) (Progress, error) {
	done := from
	base, c, err := p.begin(ctx, t, func() { beat(done) })
	if err != nil || c.gone || c.keepsData {
		done.Skipped = c.keepsData
		return done, err
	}
	seen := map[string]struct{}{}
	for i, m := range c.manifests {
		var batch []sized
		err := p.reader.EachFile(ctx, m, func(path string, bytes int64) error {
			if _, ok := seen[path]; !ok {
				seen[path] = struct{}{}
				batch = p.candidate(batch, base, kept, path, bytes)
			}
			return nil
		})
		if err != nil {
			if err = p.unreadable(ctx, t)(err); err != nil {
				return done, err
			}
		}
		if i < from.Done {
			continue // deleted and counted by an earlier attempt
		}
		files, bytes, err := p.deleteAll(ctx, batch, func() { beat(done) })
		if err != nil {
			return done, err
		}
		done.Done, done.Files, done.Bytes = i+1, done.Files+files, done.Bytes+bytes
		beat(done)
	}
	return done, nil
}

// DeleteMetadata deletes manifests, manifest lists, statistics and metadata files, one kind after the other: as long as
// a file is there, everything that leads to it is there too.
func (p *Purger) DeleteMetadata(ctx context.Context, t Table, kept FileSet, from Progress, beat func(Progress)) (Progress, error) {
	done := from
	base, c, err := p.begin(ctx, t, func() { beat(done) })
	if err != nil {
		return done, err
	}
	var manifests []string
	for _, m := range c.manifests {
		manifests = append(manifests, m.Path())
	}
	for _, kind := range [][]string{manifests, c.lists, c.stats, c.logged, {c.current}} {
		var batch []sized
		for _, path := range kind {
			batch = p.candidate(batch, base, kept, path, -1)
		}
		for part := range slices.Chunk(batch, 8*parallelDeletes) {
			files, bytes, err := p.deleteAll(ctx, part, func() { beat(done) })
			if err != nil {
				return done, err
			}
			done.Files, done.Bytes = done.Files+files, done.Bytes+bytes
			beat(done)
		}
	}
	return done, nil
}

// DeleteLeftovers deletes what lies in the table's folder, is older than before and was not found by the other parts:
// files that no commit ever named, and metadata that fell out of the log.
func (p *Purger) DeleteLeftovers(ctx context.Context, t Table, kept FileSet, before time.Time, from Progress, beat func(Progress)) (Progress, error) {
	done := from
	base, err := objects.Parse(t.Location)
	if err != nil {
		return done, err
	}
	for {
		page, err := p.files.List(ctx, base.String(), done.After, objects.MaxList)
		if err != nil {
			return done, err
		}
		var batch []sized
		for _, info := range page {
			if info.Modified.Before(before) {
				batch = p.candidate(batch, base, kept, info.Location, info.Size)
			}
		}
		files, bytes, err := p.deleteAll(ctx, batch, func() { beat(done) })
		if err != nil {
			return done, err
		}
		done.Files, done.Bytes = done.Files+files, done.Bytes+bytes
		if len(page) == 0 {
			return done, nil
		}
		done.After = page[len(page)-1].Location
		beat(done)
	}
}

func (p *Purger) begin(ctx context.Context, t Table, beat func()) (objects.Location, contents, error) {
	base, err := objects.Parse(t.Location)
	if err != nil {
		return base, contents{}, err
	}
	c, err := p.read(ctx, t, beat, p.unreadable(ctx, t))
	return base, c, err
}

// unreadable goes on without a file of the table itself that is gone, as after an earlier attempt, or damaged: leftovers
// are found by listing. A store that fails is to be asked again.
func (p *Purger) unreadable(ctx context.Context, t Table) func(error) error {
	return func(err error) error {
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if ctx.Err() != nil || !fault.Is(err, fault.Invalid) {
			return err
		}
		p.log.WarnContext(ctx, "a purge goes on without a damaged file", "table", t.Location, "error", err)
		return nil
	}
}

// candidate adds a file if it may be deleted.
func (p *Purger) candidate(batch []sized, base objects.Location, kept FileSet, path string, bytes int64) []sized {
	loc, err := objects.Parse(path)
	if err != nil || loc == base || !objects.Within(base, loc) || kept.has(loc) {
		return batch
	}
	return append(batch, sized{loc, bytes})
}

// deleteAll deletes files side by side and counts them; those of unknown size are looked at first, and those that are
// gone already do not count.
func (p *Purger) deleteAll(ctx context.Context, batch []sized, beat func()) (files, bytes int64, err error) {
	var deleted, size atomic.Int64
	for part := range slices.Chunk(batch, 8*parallelDeletes) {
		beat()
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(parallelDeletes)
		for _, f := range part {
			group.Go(func() error {
				n, was, err := p.deleteOne(groupCtx, f)
				if err == nil && was {
					deleted.Add(1)
					size.Add(n)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return deleted.Load(), size.Load(), err
		}
	}
	return deleted.Load(), size.Load(), nil
}

func (p *Purger) deleteOne(ctx context.Context, f sized) (bytes int64, was bool, err error) {
	if f.bytes < 0 {
		info, err := p.files.Stat(ctx, f.location.String())
		if fault.Is(err, fault.NotFound) {
			return 0, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		f.bytes = info.Size
	}
	return f.bytes, true, p.files.DeleteFile(ctx, f.location.String())
}
