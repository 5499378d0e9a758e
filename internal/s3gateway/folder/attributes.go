package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/versity/versitygw/s3err"
	"golang.org/x/sys/unix"
)

// attributeName is the extended attribute with what a file cannot hold otherwise.
const attributeName = "user.sluice.s3"

const (
	defaultType = "binary/octet-stream"
	markerType  = "application/x-directory"
	emptyMD5    = "d41d8cd98f00b204e9800998ecf8427e"
)

// attributes is the content of the extended attribute. Size and Modified (Unix nanoseconds) are those of the content
// that it describes: after a change by another program it describes nothing.
type attributes struct {
	ETag        string            `json:"e,omitempty"` // without quotes
	Type        string            `json:"t,omitempty"`
	Encoding    string            `json:"c,omitempty"`
	Disposition string            `json:"d,omitempty"`
	Language    string            `json:"l,omitempty"`
	Cache       string            `json:"k,omitempty"`
	Expires     string            `json:"x,omitempty"`
	Meta        map[string]string `json:"m,omitempty"`
	Size        int64             `json:"s"`
	Modified    int64             `json:"n"`
}

// maxAttributes is the most that is stored, in bytes: what the common file systems take.
const maxAttributes = 3500

// writeAttributes stores them with an open file or folder.
func writeAttributes(f *os.File, a attributes) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if len(data) > maxAttributes {
		return s3err.GetMetadataTooLargeErr(len(data), maxAttributes)
	}
	return unix.Fsetxattr(int(f.Fd()), attributeName, data, 0) //nolint:gosec // a descriptor is small
}

// readAttributes gives those of an open file or folder, and false where it has none that fit.
func readAttributes(f *os.File, info fs.FileInfo) (attributes, bool) {
	var a attributes
	buf := make([]byte, 1024)
	n, err := unix.Fgetxattr(int(f.Fd()), attributeName, buf) //nolint:gosec // a descriptor is small
	if errors.Is(err, unix.ERANGE) {
		buf = make([]byte, 64<<10)                               // the most that systems allow
		n, err = unix.Fgetxattr(int(f.Fd()), attributeName, buf) //nolint:gosec // a descriptor is small
	}
	if err != nil || json.Unmarshal(buf[:n], &a) != nil {
		return attributes{}, false
	}
	if !info.IsDir() && (a.Size != info.Size() || a.Modified != info.ModTime().UnixNano()) {
		return attributes{}, false
	}
	return a, true
}

// ETag gives the ETag that was stored with an open file, without quotes; "" where there is none, or the file was changed by
// another program since.
func ETag(f *os.File, info fs.FileInfo) string {
	a, _ := readAttributes(f, info)
	return a.ETag
}

// noAttributes tells whether err means that the file system has no extended attributes.
func noAttributes(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS)
}

// derivedETag makes an ETag from what the file system knows of a file. The "-1" keeps clients from taking it for an MD5
// sum, as it does for objects that were uploaded in parts.
func derivedETag(info fs.FileInfo) string {
	var inode uint64
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = uint64(stat.Ino) //nolint:unconvert,gosec // narrower on some systems
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d", inode, info.Size(), info.ModTime().UnixNano()))
	return hex.EncodeToString(sum[:16]) + "-1"
}

// unmark removes the attributes of an open folder.
func unmark(f *os.File) error {
	err := unix.Fremovexattr(int(f.Fd()), attributeName) //nolint:gosec // a descriptor is small
	if noAttributes(err) {
		return nil
	}
	return err
}
