package folder

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/versity/versitygw/s3err"
)

const (
	uploadFile = tempPrefix + "upload" // what the upload will become, as JSON
	partPrefix = tempPrefix + "part-"  // followed by the number and the MD5 sum
)

// upload is an upload in parts: a folder of its own in the work folder.
type upload struct {
	bucket *bucket
	id     string
	record uploadRecord
}

type uploadRecord struct {
	Key        string     `json:"key"`
	Initiated  time.Time  `json:"initiated"`
	Attributes attributes `json:"attributes"`
}

// part is one part that was uploaded.
type part struct {
	number   int
	etag     string // MD5, without quotes
	size     int64
	modified time.Time
	name     string // path of its file
}

// newUpload makes one.
func (b *bucket) newUpload(key string, a attributes) (*upload, error) {
	id := strings.ReplaceAll(uuid.NewString(), "-", "")
	u := &upload{bucket: b, id: id, record: uploadRecord{Key: key, Initiated: time.Now().UTC(), Attributes: a}}
	data, err := json.Marshal(u.record)
	if err != nil {
		return nil, err
	}
	if err := b.root.MkdirAll(u.dir(), 0o777); err != nil {
		return nil, err
	}
	return u, b.root.WriteFile(path.Join(u.dir(), uploadFile), data, 0o666)
}

// findUpload opens the upload of the id. It is the key's own: a policy that allows a key says nothing of other keys'.
func (b *bucket) findUpload(id, key string) (*upload, error) {
	missing := s3err.GetNoSuchUploadErr(id)
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 16 {
		return nil, missing
	}
	u := &upload{bucket: b, id: id}
	data, err := b.root.ReadFile(path.Join(u.dir(), uploadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	if err == nil {
		err = json.Unmarshal(data, &u.record)
	}
	if err != nil {
		return nil, err
	}
	if key != u.record.Key {
		return nil, missing
	}
	return u, nil
}

func (u *upload) dir() string { return path.Join(workFolder, u.id) }

// write stores one part, in place of one of the same number.
func (u *upload) write(number int, body io.Reader, size int64) (part, error) {
	s, err := u.bucket.newStaged()
	if err != nil {
		return part{}, err
	}
	defer s.discard()
	if err := s.fill(body, size); err != nil {
		return part{}, err
	}
	if err := s.file.Close(); err != nil {
		return part{}, err
	}
	p := part{number: number, etag: s.etag(), size: s.size, modified: time.Now()}
	p.name = path.Join(u.dir(), fmt.Sprintf("%s%05d-%s", partPrefix, number, p.etag))
	defer u.bucket.lock(u.id).Unlock()
	before, err := u.parts()
	if err == nil {
		err = u.bucket.root.Rename(s.name, p.name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return part{}, s3err.GetNoSuchUploadErr(u.id) // it ended meanwhile
	}
	if err != nil {
		return part{}, err
	}
	for _, old := range before {
		if old.number == number && old.name != p.name {
			_ = u.bucket.root.Remove(old.name) // goes with the upload otherwise
		}
	}
	return p, nil
}

// parts gives those that are there, in the order of their numbers, one for each.
func (u *upload) parts() ([]part, error) {
	dir, err := u.bucket.root.Open(u.dir())
	if err != nil {
		return nil, err
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close() // nothing was written through it
	if err != nil {
		return nil, err
	}
	var found []part
	for _, entry := range entries {
		rest, isPart := strings.CutPrefix(entry.Name(), partPrefix)
		number, etag, complete := strings.Cut(rest, "-")
		n, err := strconv.Atoi(number)
		if !isPart || !complete || err != nil {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue // replaced meanwhile
		}
		found = append(found, part{number: n, etag: etag, size: info.Size(), modified: info.ModTime(), name: path.Join(u.dir(), entry.Name())})
	}
	slices.SortFunc(found, func(a, b part) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return b.modified.Compare(a.modified)
	})
	return slices.CompactFunc(found, func(a, b part) bool { return a.number == b.number }), nil
}

// remove ends the upload, with all its parts.
func (u *upload) remove() error { return u.bucket.root.RemoveAll(u.dir()) }

// join writes the parts, one after the other, into a staged file.
func (u *upload) join(s *staged, parts []part) error {
	for _, p := range parts {
		f, err := u.bucket.root.Open(p.name)
		if err != nil {
			return err
		}
		n, err := io.Copy(s.file, f)
		_ = f.Close() // nothing was written through it
		s.size += n
		if err == nil && n != p.size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// uploads gives the unfinished ones of the bucket.
func (b *bucket) uploads() ([]*upload, error) {
	dir, err := b.root.Open(workFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close() // nothing was written through it
	if err != nil {
		return nil, err
	}
	var found []*upload
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		u := &upload{bucket: b, id: entry.Name()}
		data, err := b.root.ReadFile(path.Join(u.dir(), uploadFile))
		if errors.Is(err, os.ErrNotExist) {
			continue // ended, or begins
		}
		if err != nil {
			return nil, err
		}
		if json.Unmarshal(data, &u.record) == nil {
			found = append(found, u)
		}
	}
	return found, nil
}
