package objects

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// List implements Store. Symbolic links are not followed, and files that are being written are not shown.
func (s *FileStore) List(ctx context.Context, prefix, after string, limit int) ([]Info, error) {
	loc, name, err := s.resolve(ctx, prefix)
	if err != nil {
		return nil, err
	}
	afterKey, err := KeyAfter(loc, after)
	if err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, prefix: loc, after: afterKey, limit: PageSize(limit)}
	folder, err := openFolder(s.root, name)
	if err == nil {
		err = w.folder(folder, loc.key)
	}
	if err != nil && !absent(err) {
		if stopErr := Stopped(ctx, loc); stopErr != nil {
			return nil, stopErr
		}
		return nil, readFault(loc, err)
	}
	return w.found, nil
}

// PageSize bounds the limit of a page.
func PageSize(limit int) int {
	if limit <= 0 || limit > MaxList {
		return MaxList
	}
	return limit
}

// KeyAfter gives the key of the last location of the page before. Names that a store has and Parse refuses are taken
// as they are, so that a listing gets past them.
func KeyAfter(prefix Location, after string) (string, error) {
	if after == "" {
		return "", nil
	}
	if rest, found := strings.CutPrefix(after, strings.TrimSuffix(prefix.String(), "/")+"/"); found {
		return below(prefix.key, rest), nil
	}
	loc, err := Parse(after)
	if err != nil {
		return "", err
	}
	if !Within(prefix, loc) {
		return "", fault.New(fault.Invalid, "Location %s is not one of a listing of %s.", loc, prefix)
	}
	return loc.key, nil
}

// below gives the key of name in the folder of the key.
func below(key, name string) string {
	if key == "" {
		return name
	}
	return key + "/" + name
}

// walk collects the files of a folder tree in byte order of their keys, as S3 lists objects.
type walk struct {
	ctx    context.Context
	prefix Location
	after  string
	limit  int
	found  []Info
}

// folder lists one folder, closes it, and descends while the page has room.
func (w *walk) folder(folder *os.Root, key string) error {
	defer discard(folder)
	entries, err := entriesOf(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if len(w.found) >= w.limit {
			return nil
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(folder, entry, below(key, entry.Name())); err != nil && !absent(err) {
			return err
		}
	}
	return nil
}

// entry takes one file, or the files of one folder.
func (w *walk) entry(folder *os.Root, entry fs.DirEntry, key string) error {
	if entry.IsDir() {
		inside := key + "/"
		if w.after >= inside && !strings.HasPrefix(w.after, inside) {
			return nil // all of it was on earlier pages
		}
		child, err := openFolder(folder, entry.Name())
		if err != nil {
			return err
		}
		return w.folder(child, key)
	}
	if key <= w.after || strings.HasPrefix(entry.Name(), tempPrefix) {
		return nil
	}
	info, err := folder.Lstat(entry.Name())
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	loc := Location{scheme: w.prefix.scheme, bucket: w.prefix.bucket, key: key}
	w.found = append(w.found, Info{Location: loc.String(), Size: info.Size(), Modified: info.ModTime()})
	return nil
}

// entriesOf gives a folder's entries in the order in which the keys below them sort: a folder counts with its slash.
func entriesOf(folder *os.Root) ([]fs.DirEntry, error) {
	handle, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	entries, err := handle.ReadDir(-1)
	if err = errors.Join(err, handle.Close()); err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortName(a), sortName(b)) })
	return entries, nil
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}
