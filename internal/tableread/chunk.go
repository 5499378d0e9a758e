package tableread

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// chunk is the column chunk of a leaf in a row group. Its pages are known as far as they were looked for, so that reading
// can start at any of them without unpacking those before.
type chunk struct {
	group  *rowGroup
	leaf   *node
	from   io.ReaderAt
	start  int64 // in the file
	end    int64
	values int64 // NULL included

	next       int64 // where the next page starts that was not looked at
	seen       int64 // values of the pages that were
	pages      []pagePlace
	dictionary pagePlace // size 0 without one
}

// pagePlace is a data page, or the dictionary.
type pagePlace struct {
	start, size int64 // header included
	first       int64 // number of its first value
	values      int64
}

// chunk opens the column chunk of a leaf.
func (g *rowGroup) chunk(leaf *node) (*chunk, error) {
	start, size, err := g.place(leaf)
	if err != nil {
		return nil, err
	}
	c := &chunk{
		group: g, leaf: leaf, start: start, end: start + size, next: start,
		values: g.footer.meta.RowGroups[g.index].Columns[leaf.column].MetaData.NumValues,
	}
	if raw, ok := g.find(start, size); ok {
		c.from = &within{start, raw}
	} else {
		c.from = &window{from: g.from, end: c.end}
	}
	return c, nil
}

// within is a part of a file in memory, read by the places of the file.
type within segment

// ReadAt implements io.ReaderAt.
func (w *within) ReadAt(p []byte, off int64) (int, error) {
	if off < w.start || off > w.start+int64(len(w.bytes)) {
		return 0, io.EOF
	}
	n := copy(p, w.bytes[off-w.start:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// page gives the place of the page that has a value.
func (c *chunk) page(value int64) (int, error) {
	for value >= c.seen {
		if err := c.look(); err != nil {
			return 0, err
		}
	}
	at, found := slices.BinarySearchFunc(c.pages, value, func(p pagePlace, v int64) int {
		switch {
		case v < p.first:
			return 1
		case v >= p.first+p.values:
			return -1
		}
		return 0
	})
	if !found {
		return 0, fmt.Errorf("%w: rows are missing", errDecode)
	}
	return at, nil
}

// saves tells whether to start anew at a page costs less than to go on to it from the page that has a value: the
// dictionary is read again, and the pages between are not.
func (c *chunk) saves(value int64, page int) bool {
	if value >= c.pages[page].first || value >= c.seen {
		return false
	}
	between := int64(0)
	for i := page - 1; i >= 0 && c.pages[i].first > value; i-- {
		between += c.pages[i].size
	}
	const perOpening = 16 << 10 // bytes that could be read instead
	return between > 2*c.dictionary.size+perOpening
}

// look reads the header of the next page.
func (c *chunk) look() error {
	const first, most = 1 << 10, 4 << 20 // bytes of a header, which may have statistics of long texts
	for size := int64(first); ; size *= 4 {
		raw := make([]byte, min(size, c.end-c.next))
		if len(raw) == 0 {
			return fmt.Errorf("%w: rows are missing", errDecode)
		}
		if n, err := c.from.ReadAt(raw, c.next); n < len(raw) {
			return fmt.Errorf("%w: truncated: %w", errDecode, err)
		}
		h, ok := readPageHeader(raw)
		if !ok {
			if size >= most || int64(len(raw)) < size {
				return fmt.Errorf("%w: no page", errDecode)
			}
			continue
		}
		return c.add(h)
	}
}

func (c *chunk) add(h pageHeader) error {
	p := pagePlace{start: c.next, size: h.header + h.compressed, first: c.seen, values: h.values}
	if p.size > c.end-c.next {
		return fmt.Errorf("%w: a page beyond the end", errDecode)
	}
	c.next += p.size
	switch h.kind {
	case dictionaryPage:
		c.dictionary = p
	case dataPage, dataPageV2:
		if h.values > c.values-c.seen {
			return fmt.Errorf("%w: more values than it has", errDecode)
		}
		if h.values > 0 {
			c.pages = append(c.pages, p)
			c.seen += h.values
		}
	}
	return nil
}

// open starts to read at a page; the first is that of value 0. It gives the number of the first value that is read, and
// how many come before it that are none.
func (c *chunk) open(page int) (r file.ColumnChunkReader, first, before int64, err error) {
	s := &spliced{from: c.from}
	var primer []byte
	if !c.group.few {
		primer = c.primer()
	}
	start := c.start
	if page > 0 {
		start, first = c.pages[page].start, c.pages[page].first
	} else if primer != nil {
		start = c.dictionary.start + c.dictionary.size
	}
	if (page > 0 || primer != nil) && c.dictionary.size > 0 {
		s.parts = append(s.parts, piece{pagePlace: c.dictionary})
	}
	if primer != nil {
		s.parts = append(s.parts, piece{pagePlace{size: int64(len(primer))}, primer})
		before = 1
	}
	s.parts = append(s.parts, piece{pagePlace: pagePlace{start: start, size: c.end - start}})
	r, err = c.reader(c.values-first+before, s)
	return r, first, before, err
}

// reader makes a reader of a file that has of the row group's chunk only what is in s.
func (c *chunk) reader(values int64, s *spliced) (file.ColumnChunkReader, error) {
	meta := *c.group.footer.meta
	all := *meta.FileMetaData
	meta.FileMetaData = &all
	group := *all.RowGroups[c.group.index]
	group.Columns = slices.Clone(group.Columns)
	column := *group.Columns[c.leaf.column]
	described := *column.MetaData
	described.DictionaryPageOffset, described.IndexPageOffset = nil, nil
	described.DataPageOffset, described.TotalCompressedSize, described.NumValues = firstPage, s.size(), values
	described.Statistics = nil
	column.MetaData = &described
	column.OffsetIndexOffset, column.OffsetIndexLength, column.ColumnIndexOffset, column.ColumnIndexLength = nil, nil, nil, nil
	group.Columns[c.leaf.column] = &column
	all.RowGroups = append(all.RowGroups[:0:0], &group)
	meta.SetSourceFileSize(firstPage + s.size())

	properties := parquet.NewReaderProperties(c.group.memory)
	properties.BufferedStreamEnabled, properties.BufferSize = true, headerBytes
	properties.MaxCompressedPageSize, properties.MaxUncompressedPageSize = largestPage, largestPage
	r, err := file.NewParquetReader(s, file.WithMetadata(&meta), file.WithReadProps(properties))
	if err != nil {
		return nil, err
	}
	return r.RowGroup(0).Column(c.leaf.column)
}

// firstPage is where the pages of a spliced file start: 0 would stand for none.
const firstPage = 4

// spliced is parts of a file one after the other, from firstPage on.
type spliced struct {
	from  io.ReaderAt
	parts []piece
}

// piece is a part of a spliced file: a place in the other, or bytes that are in none.
type piece struct {
	pagePlace
	bytes []byte
}

func (p piece) readAt(from io.ReaderAt, out []byte, off int64) (int, error) {
	if p.bytes != nil {
		return copy(out, p.bytes[off:]), nil
	}
	return from.ReadAt(out, p.start+off)
}

func (s *spliced) size() int64 {
	size := int64(0)
	for _, p := range s.parts {
		size += p.size
	}
	return size
}

// ReadAt implements io.ReaderAt.
func (s *spliced) ReadAt(p []byte, off int64) (int, error) {
	off -= firstPage
	read := 0
	for _, part := range s.parts {
		if off >= part.size {
			off -= part.size
			continue
		}
		if read == len(p) {
			break
		}
		want := min(int64(len(p)-read), part.size-off)
		n, err := part.readAt(s.from, p[read:read+int(want)], off)
		if read += n; int64(n) < want {
			return read, err
		}
		off = 0
	}
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

// errSeek says that a spliced file is only read by places.
var errSeek = errors.New("not supported")

// Seek implements io.Seeker, which a reader with metadata needs not.
func (s *spliced) Seek(int64, int) (int64, error) { return 0, errSeek }
