package metadata

import (
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// maxDocumentBytes bounds what a compressed document may expand to.
const maxDocumentBytes = 1 << 30

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
// ".metadata.json.gz") or its first bytes say gzip. Invalid when it is damaged or beyond 1 GiB.
func Decompress(location string, raw []byte) ([]byte, error) {
	magic := len(raw) >= 2 && raw[0] == 0x1f && raw[1] == 0x8b
	named := strings.HasSuffix(location, ".metadata.json.gz") || strings.HasSuffix(location, ".gz.metadata.json")
	if !magic && !named {
		return raw, nil
	}
	return gunzip(location, raw, maxDocumentBytes)
}

func gunzip(location string, raw []byte, limit int64) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "Cannot decompress metadata file %s", location)
	}
	out, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "Cannot decompress metadata file %s", location)
	}
	if int64(len(out)) > limit {
		return nil, fault.New(fault.Invalid, "Metadata file %s expands to more than %d bytes", location, limit)
	}
	return out, nil
}
