package objects

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ETagFunc gives the ETag that is kept with an open file; "" where none is, or none that fits its content.
type ETagFunc func(f *os.File, info fs.FileInfo) string

// describe is the answer about a regular file.
func (s *FileStore) describe(loc Location, name string, info fs.FileInfo) Info {
	out := Info{Location: loc.String(), Size: info.Size(), Modified: info.ModTime(), ETag: timeETag(info)}
	if s.etag == nil {
		return out
	}
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return out // it is described by what is known of it
	}
	defer discard(f)
	opened, err := f.Stat()
	if err != nil || !opened.Mode().IsRegular() {
		return out
	}
	out.Size, out.Modified, out.ETag = opened.Size(), opened.ModTime(), timeETag(opened)
	if etag := s.etag(f, opened); etag != "" {
		out.ETag = etag
	}
	return out
}

// timeETag names a content by its size and the time of its last change. The number of the file is left out: a folder
// that was restored from a copy has the same files under others.
func timeETag(info fs.FileInfo) string {
	return fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano())
}
