package tableread

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// Limits of reading row groups.
const (
	mostPrefetched = 32 << 20  // bytes of column chunks that are read ahead: of larger ones parts are read when needed
	mostGap        = 256 << 10 // bytes that are read for nothing, so that two chunks are one request
	headerBytes    = 16 << 10  // that are read at once of a page's header, as the decoder does
	firstWindow    = 64 << 10  // bytes, of a chunk that is read in parts; it grows while reads follow each other
	largestWindow  = 2 << 20
)

// rowGroup is a row group that is being read.
type rowGroup struct {
	from   *source
	footer *footer
	index  int
	memory *workspace // of what is decoded; nil where only the footer is looked at
	ahead  []segment  // that were read ahead
	few    bool       // few of the rows are read
}

// segment is a part of a file that is in memory.
type segment struct {
	start int64
	bytes []byte
}

func (g *rowGroup) numRows() int64 { return g.footer.first[g.index+1] - g.footer.first[g.index] }

func (g *rowGroup) firstRow() int64 { return g.footer.first[g.index] }

// place gives where a column chunk is.
func (g *rowGroup) place(leaf *node) (start, size int64, err error) {
	column := g.footer.meta.RowGroups[g.index].Columns[leaf.column]
	if column.CryptoMetadata != nil {
		return 0, 0, readable(g.from.kind, g.from.path, "parquet", true)
	}
	chunk := column.MetaData
	if chunk == nil || column.FilePath != nil {
		return 0, 0, fmt.Errorf("%w: a column chunk elsewhere", errDecode)
	}
	start, size = chunk.DataPageOffset, chunk.TotalCompressedSize
	if d := chunk.DictionaryPageOffset; d != nil && *d > 0 && *d < start {
		start = *d
	}
	if start < 0 || size < 0 || size > g.from.size || start > g.from.size-size {
		return 0, 0, fmt.Errorf("%w: a column chunk beyond the end", errDecode)
	}
	if g.footer.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) { // which forgot the header of the dictionary
		size += min(100, g.from.size-start-size)
	}
	return start, size, nil
}

// compressed gives the bytes of column chunks in the file; unpacked is what they say to be without compression.
func (g *rowGroup) compressed(leaves []*node) (bytes, unpacked int64, err error) {
	for _, leaf := range leaves {
		_, size, err := g.place(leaf)
		if err != nil {
			return 0, 0, err
		}
		bytes += size
		unpacked += min(max(g.footer.meta.RowGroups[g.index].Columns[leaf.column].MetaData.TotalUncompressedSize, size), int64(1)<<40)
	}
	return bytes, unpacked, nil
}

// prefetch reads column chunks ahead, in few requests, when they are not too large.
func (g *rowGroup) prefetch(leaves []*node) error {
	var parts []segment // without bytes yet
	ends := make(map[int64]int64)
	total := int64(0)
	for _, leaf := range leaves {
		start, size, err := g.place(leaf)
		if err != nil {
			return err
		}
		if _, ok := g.find(start, size); ok {
			continue
		}
		total += size
		if end, ok := ends[start]; !ok || end < start+size {
			ends[start] = start + size
		}
	}
	if total > mostPrefetched {
		return nil
	}
	for start := range ends {
		parts = append(parts, segment{start: start})
	}
	slices.SortFunc(parts, func(a, b segment) int { return cmp.Compare(a.start, b.start) })
	for i := 0; i < len(parts); {
		start, end := parts[i].start, ends[parts[i].start]
		next := i + 1
		for next < len(parts) && parts[next].start <= end+mostGap {
			end = max(end, ends[parts[next].start])
			next++
		}
		raw := g.memory.Allocate(int(end - start))
		if err := g.from.fill(raw, start); err != nil {
			return err
		}
		g.ahead = append(g.ahead, segment{start, raw})
		i = next
	}
	return nil
}

// find gives the bytes of a place that were read ahead.
func (g *rowGroup) find(start, size int64) ([]byte, bool) {
	for _, s := range g.ahead {
		if start >= s.start && start+size <= s.start+int64(len(s.bytes)) {
			return s.bytes[start-s.start : start-s.start+size], true
		}
	}
	return nil, false
}

// window reads a place in parts, and more at a time while they follow each other.
type window struct {
	from  io.ReaderAt
	end   int64 // of the place
	start int64
	bytes []byte
	grown int64
}

// ReadAt implements io.ReaderAt, for one caller at a time.
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	read := 0
	for read < len(p) {
		at := off + int64(read)
		if at >= w.end {
			return read, io.EOF
		}
		if at >= w.start && at < w.start+int64(len(w.bytes)) {
			read += copy(p[read:], w.bytes[at-w.start:])
			continue
		}
		if err := w.fill(at); err != nil {
			return read, err
		}
	}
	return read, nil
}

func (w *window) fill(at int64) error {
	if at == w.start+int64(len(w.bytes)) && w.grown > 0 {
		w.grown = min(2*w.grown, largestWindow)
	} else {
		w.grown = firstWindow
	}
	size := min(w.grown, w.end-at)
	if int64(cap(w.bytes)) < size {
		w.bytes = make([]byte, size)
	}
	w.start, w.bytes = at, w.bytes[:size]
	n, err := w.from.ReadAt(w.bytes, at)
	if int64(n) < size {
		w.bytes = w.bytes[:0]
		return fmt.Errorf("%w: truncated: %w", errDecode, err)
	}
	return nil
}
