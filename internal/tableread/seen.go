package tableread

import (
	"strconv"
	"strings"
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
	deletes string
	found   Found
}

// of gives what was found in a data file, if its deletes were those that it has now.
func (s *Seen) of(f *scan.DataFile) (Found, bool) {
	if s == nil {
		return Found{}, false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known, ok := s.files[f.Path]
	if !ok || known.deletes != deletesOf(f) {
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
	s.files[found.File.Path] = seenFile{deletes: deletesOf(found.File), found: found}
}

// deletesOf names the deletes of a data file. What has a name does not change.
func deletesOf(f *scan.DataFile) string {
	var out strings.Builder
	for _, d := range f.Deletes {
		out.WriteString(d.Path + "\x00" + strconv.FormatInt(d.Offset, 10) + "\x00")
	}
	return out.String()
}
