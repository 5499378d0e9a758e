package scan

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
)

// builder puts a page together. Delete files are listed once, when the first task refers to them.
type builder struct {
	page      *Page
	positions map[*deleteFile]int
	stats     []int
	rows      int64
}

func (b *builder) add(c candidate, deletes []*deleteFile) {
	task := Task{DataFile: c.contentFile(), Residual: c.residual}
	if c.file.FirstRowID() != nil {
		sequence := c.SequenceNum()
		task.DataFile.DataSequenceNumber = &sequence
	}
	if len(b.stats) > 0 {
		task.DataFile.Stats = statsOf(c.file, b.stats)
	}
	for _, d := range deletes {
		at, listed := b.positions[d]
		if !listed {
			at = len(b.page.DeleteFiles)
			b.positions[d] = at
			b.page.DeleteFiles = append(b.page.DeleteFiles, d.contentFile())
		}
		task.References = append(task.References, at)
	}
	b.rows += c.file.Count()
	b.page.Tasks = append(b.page.Tasks, task)
}

func (c *candidate) contentFile() ContentFile {
	f := c.file
	out := ContentFile{
		SpecID: c.spec.id, Content: contentName(f.ContentType()), FilePath: f.FilePath(),
		FileFormat: strings.ToLower(string(f.FileFormat())), Partition: make([]json.RawMessage, len(c.partition)),
		FileSizeInBytes: f.FileSizeBytes(), RecordCount: f.Count(), KeyMetadata: upperHex(f.KeyMetadata()),
		SplitOffsets: f.SplitOffsets(), SortOrderID: f.SortOrderID(), EqualityIDs: f.EqualityFieldIDs(),
	}
	for i, v := range c.partition {
		out.Partition[i] = v.JSON()
	}
	if f.ContentType() == iceberg.EntryContentData {
		out.FirstRowID = f.FirstRowID()
		return out
	}
	out.ReferencedDataFile, out.ContentOffset, out.ContentSizeInBytes = f.ReferencedDataFile(), f.ContentOffset(), f.ContentSizeInBytes()
	return out
}

func contentName(c iceberg.ManifestEntryContent) string {
	switch c {
	case iceberg.EntryContentPosDeletes:
		return "position-deletes"
	case iceberg.EntryContentEqDeletes:
		return "equality-deletes"
	}
	return "data"
}

// partitionKey is a text that files of one spec and partition share.
func (c *candidate) partitionKey() string {
	key := []byte(strconv.Itoa(c.spec.id))
	for _, v := range c.partition {
		key = append(key, '|')
		if v.Known() {
			key = append(key, v.JSON()...)
		} else {
			key = fmt.Appendf(key, "?%v", v.Raw())
		}
	}
	return string(key)
}

func upperHex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }

func statsOf(f iceberg.DataFile, ids []int) Stats {
	same := func(n int64) int64 { return n }
	return Stats{
		ColumnSizes:     byColumn(f.ColumnSizes(), ids, same),
		ValueCounts:     byColumn(f.ValueCounts(), ids, same),
		NullValueCounts: byColumn(f.NullValueCounts(), ids, same),
		NaNValueCounts:  byColumn(f.NaNValueCounts(), ids, same),
		LowerBounds:     byColumn(f.LowerBoundValues(), ids, upperHex),
		UpperBounds:     byColumn(f.UpperBoundValues(), ids, upperHex),
	}
}

// byColumn picks the columns' values; nil when the file has none.
func byColumn[V, W any](values map[int]V, ids []int, convert func(V) W) *ByColumn[W] {
	out := &ByColumn[W]{}
	for _, id := range ids {
		if v, ok := values[id]; ok {
			out.Keys, out.Values = append(out.Keys, id), append(out.Values, convert(v))
		}
	}
	if len(out.Keys) == 0 {
		return nil
	}
	return out
}
