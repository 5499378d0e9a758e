package metadata

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// What a compressed document may expand to: maxDocumentBytes, and beyond smallDocument no more than maxRatio times its
// size. Metadata shrinks by 10 to 50.
const (
	maxDocumentBytes = 256 << 20
	smallDocument    = 16 << 20
	maxRatio         = 200
)

// MetadataLocationVersion reads the version out of a metadata file's name: 12 for
// ".../00012-<uuid>.metadata.json" and ".../v12.metadata.json", in either spelling of compression.
// It is -1 when the name has none.
func MetadataLocationVersion(location string) int {
	name := path.Base(location)
	name = strings.TrimSuffix(name, ".gz")
	name, ok := strings.CutSuffix(name, ".metadata.json")
	if !ok {
		return -1
	}
	name = strings.TrimSuffix(name, ".gz")
	digits, _, dashed := strings.Cut(name, "-")
	if !dashed {
		if digits, ok = strings.CutPrefix(name, "v"); !ok {
			return -1
		}
	}
	version, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return -1
	}
	return int(version)
}

// Decompress gives the JSON of a metadata file, expanding it when its name (".gz.metadata.json" or
// ".metadata.json.gz") or its first bytes say gzip. Invalid when it is damaged or expands to more than 256 MiB, or to
// more than metadata can.
func Decompress(location string, raw []byte) ([]byte, error) {
	magic := len(raw) >= 2 && raw[0] == 0x1f && raw[1] == 0x8b
	named := strings.HasSuffix(location, ".metadata.json.gz") || strings.HasSuffix(location, ".gz.metadata.json")
	if !magic && !named {
		return raw, nil
	}
	return gunzip(location, raw, min(maxDocumentBytes, max(smallDocument, maxRatio*len(raw))))
}

// gunzip allocates what the file says it expands to, and grows if it turns out to be several files in one. A size beyond
// the limit is refused before anything is expanded: if it were not true, the file would be damaged.
func gunzip(location string, raw []byte, limit int) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "Cannot decompress metadata file %s", location)
	}
	stated := int64(binary.LittleEndian.Uint32(raw[len(raw)-4:])) // a gzip file has a head and a tail of 18 bytes at least
	if stated > int64(limit) {
		return nil, expandsTooFar(location, limit)
	}
	out := bytes.NewBuffer(make([]byte, 0, int(stated)+bytes.MinRead))
	if _, err = out.ReadFrom(io.LimitReader(reader, int64(limit)+1)); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "Cannot decompress metadata file %s", location)
	}
	if out.Len() > limit {
		return nil, expandsTooFar(location, limit)
	}
	return out.Bytes(), nil
}

func expandsTooFar(location string, limit int) error {
	return fault.New(fault.Invalid, "Metadata file %s expands to more than %d bytes", location, limit)
}
