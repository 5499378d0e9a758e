package tableread

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet/compress"
)

// The decoder unpacks a dictionary value by value, each when it is used first, which costs more than all else where most
// values are used once. A page in front of the others, whose one row has the last value, makes it unpack all at once.

// fewestPrimed is how many values a dictionary has at least for which that is done.
const fewestPrimed = 1 << 10

// primer gives such a page, nil for none.
func (c *chunk) primer() []byte {
	if c.next == c.start && c.look() != nil {
		return nil
	}
	if c.dictionary.size == 0 || c.dictionary.start != c.start || c.dictionary.values < fewestPrimed || c.leaf.descr.MaxRepetitionLevel() > 0 {
		return nil
	}
	described, err := c.group.footer.meta.RowGroup(c.group.index).ColumnChunk(c.leaf.column)
	if err != nil {
		return nil
	}
	codec, err := compress.GetCodec(described.Compression())
	if err != nil {
		return nil
	}
	body := lastOf(c.dictionary.values, c.leaf.descr.MaxDefinitionLevel())
	packed := codec.Encode(make([]byte, codec.CompressBound(int64(len(body)))), body)
	return append(dictionaryPageHeader(len(body), len(packed)), packed...)
}

// lastOf is the body of a page with the last value of a dictionary of so many.
func lastOf(values int64, definition int16) []byte {
	const one = 1 << 1 // the head of a run of one
	var body []byte
	if definition > 0 {
		body = append(binary.LittleEndian.AppendUint32(body, 2), one, byte(definition))
	}
	last := uint64(values - 1)
	width := bits.Len64(last)
	body = append(body, byte(width), one)
	for n := 0; n < width; n += 8 {
		body = append(body, byte(last>>n))
	}
	return body
}

// dictionaryPageHeader is the header of a page of one value by the dictionary, in Thrift's compact protocol.
func dictionaryPageHeader(size, packed int) []byte {
	const (
		i32, nested              = 1<<4 | compactI32, 2<<4 | compactStruct // the next field, and the one after that
		dictionary, hybrid       = 8, 3                                    // encodings of values and of levels
		one                int64 = 1
	)
	out := binary.AppendVarint([]byte{i32}, dataPage)
	out = binary.AppendVarint(append(out, i32), int64(size))
	out = binary.AppendVarint(append(out, i32), int64(packed))
	out = binary.AppendVarint(append(out, nested, i32), one)
	out = binary.AppendVarint(append(out, i32), dictionary)
	out = binary.AppendVarint(append(out, i32), hybrid)
	out = binary.AppendVarint(append(out, i32), hybrid)
	return append(out, 0, 0)
}
