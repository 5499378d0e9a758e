package tableread

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/sluice-data/sluice/internal/fault"
)

// Limits of reading Parquet files.
const (
	largestFooter = 32 << 20 // bytes
	tailBytes     = 64 << 10 // read at once from a file's end: most footers fit
	largestPage   = 64 << 20 // bytes, unpacked: writers aim at 1 MB
	footerFactor  = 6        // what a footer takes in memory, by its bytes
)

// footer is what a Parquet file says of itself. It is shared and never changed.
type footer struct {
	meta   *metadata.FileMetaData
	root   *node
	hasIDs bool
	first  []int64 // number of the first row of each row group, and of all rows at the end
}

func (f *footer) rows() int64 { return f.first[len(f.first)-1] }

// footer gives a file's footer, which files keep for ever.
func (r *Reader) footer(s *source) (*footer, error) {
	key := footerKey{s.path, s.size}
	if f, ok := r.footers.Get(key); ok {
		return f, nil
	}
	var f *footer
	size := int64(0)
	err := s.decode(func() (err error) {
		raw, err := s.footerBytes()
		if err != nil {
			return err
		}
		size = int64(len(raw))
		f, err = decodeFooter(raw, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.footers.Put(key, f, size*footerFactor)
	return f, nil
}

// footerBytes reads a footer. Nothing is set aside for what the file merely claims.
func (s *source) footerBytes() ([]byte, error) {
	const trailer = 8
	tail, err := s.part(max(s.size-tailBytes, 0), min(s.size, tailBytes))
	if err != nil {
		return nil, err
	}
	if len(tail) < trailer {
		return nil, fmt.Errorf("%w: too short", errDecode)
	}
	end := tail[len(tail)-trailer:]
	switch string(end[4:]) {
	case "PAR1":
	case "PARE":
		return nil, readable(s.kind, s.path, "parquet", true)
	default:
		return nil, fmt.Errorf("%w: no Parquet file", errDecode)
	}
	size := int64(binary.LittleEndian.Uint32(end))
	switch {
	case size > largestFooter:
		return nil, fault.New(fault.TooLarge, "The %s %s has a footer of more than %d MB, which is not read here. Rewrite it in smaller files.", s.kind, shown(s.path), largestFooter>>20)
	case size+trailer <= int64(len(tail)):
		return tail[int64(len(tail))-trailer-size : len(tail)-trailer], nil
	}
	return s.part(s.size-trailer-size, size)
}

func decodeFooter(raw []byte, s *source) (*footer, error) {
	if err := checkShape(raw); err != nil {
		return nil, err
	}
	meta, err := metadata.NewFileMetaData(raw, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDecode, err)
	}
	if meta.IsSetEncryptionAlgorithm() {
		return nil, readable(s.kind, s.path, "parquet", true)
	}
	meta.SetSourceFileSize(s.size)
	meta.WriterVersion() // it is made when it is first asked for, which is not safe later
	f := &footer{meta: meta, first: make([]int64, 1, len(meta.RowGroups)+1)}
	if f.root, err = newNodes(meta.Schema); err != nil {
		return nil, err
	}
	f.hasIDs = f.root.hasIDs()
	for _, group := range meta.RowGroups {
		if group.NumRows < 0 || group.NumRows > mostRows || len(group.Columns) != meta.Schema.NumColumns() {
			return nil, fmt.Errorf("%w: an impossible row group", errDecode)
		}
		f.first = append(f.first, f.rows()+group.NumRows)
	}
	return f, nil
}

// mostRows bounds what one row group may claim to hold, so that sums do not overflow.
const mostRows = int64(1) << 40

// footerKey names a file: what a path and size stand for never changes.
type footerKey struct {
	path string
	size int64
}
