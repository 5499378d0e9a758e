package tableread

import (
	"slices"
	"sync"

	"github.com/sluice-data/sluice/internal/scan"
)

// Seen is what lookups of the same keys found in each data file. A file whose deletes are the same is not read again when
// others have changed the table. It is for one lookup at a time.
type Seen struct {
	mutex sync.Mutex
	files map[string]seenFile
}

// seenFile is what was found in a data file, and beside which deletes.
type seenFile struct {
	deletes []*scan.DeleteFile
	found   Found // without the file, which is that of a plan
}

// of gives what was found in a data file, if its deletes were those that it has now.
func (s *Seen) of(f *scan.DataFile) (Found, bool) {
	if s == nil {
		return Found{}, false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known, ok := s.files[f.Path]
	if !ok || !slices.EqualFunc(known.deletes, f.Deletes, isSameDelete) {
		return Found{}, false
	}
	known.found.File = f
	return known.found, true
}

func (s *Seen) add(found Found) {
	if s == nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.files == nil {
		s.files = make(map[string]seenFile)
	}
	f := found.File
	found.File = nil
	s.files[f.Path] = seenFile{f.Deletes, found}
}

// isSameDelete tells whether two delete files are one. What has a name does not change.
func isSameDelete(a, b *scan.DeleteFile) bool { return a.Path == b.Path && a.Offset == b.Offset }
