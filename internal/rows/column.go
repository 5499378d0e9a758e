package rows

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
)

// column gathers the values of one field of a table. Unlike Arrow's builders it can take the last values back, so that
// a row whose third value is wrong leaves nothing behind.
type column struct {
	field  arrow.Field
	kind   kind
	cost   int64 // bytes that any value takes, NULL too
	values int
	valid  []byte // a bit for each value
	nulls  int

	data    []byte  // of fixed width, or what offsets point into; bits of booleans
	width   int     // bytes of a value of fixed width
	offsets []int32 // of values of variable length, and of lists and maps in their children
	parts   []*column
	names   map[string]int // place of each part of a struct

	integerBits      int // 32 or 64
	precision, scale int // of decimals
	digits           int // after the second, of times
	zoned            bool
	absent           []byte // JSON of what stands in for a missing member, nil for NULL
}

// kind is how the values of a column are read and kept.
type kind int

const (
	booleans kind = iota
	integers
	floats
	doubles
	decimals
	dates
	times
	timestamps
	texts
	uuids
	fixeds
	binaries
	lists
	maps
	structs
)

const (
	bitsOfByte  = 8
	offsetBytes = 4
)

func newColumn(f arrow.Field) (*column, error) {
	c := &column{field: f}
	if c.scalar(f.Type) {
		c.cost = max(int64(c.width), offsetBytes)
		return c, nil
	}
	var fields []arrow.Field
	switch t := f.Type.(type) {
	case *arrow.ListType:
		c.kind, fields = lists, []arrow.Field{t.ElemField()}
	case *arrow.MapType:
		c.kind, fields = maps, []arrow.Field{t.KeyField(), t.ItemField()}
		fields[0].Name, fields[1].Name = "key", "value"
	case *arrow.StructType:
		c.kind, fields = structs, t.Fields()
	default:
		return nil, fault.New(fault.Unsupported, "Column %s is of type %s, which rows cannot be written to.", f.Name, f.Type)
	}
	if c.kind != structs {
		c.offsets, c.cost = append(c.offsets, 0), offsetBytes
	}
	c.names = make(map[string]int, len(fields))
	for i, field := range fields {
		part, err := newColumn(field)
		if err != nil {
			return nil, err
		}
		c.parts = append(c.parts, part)
		c.names[field.Name] = i
		if c.kind == structs {
			c.cost += part.cost
		}
	}
	return c, nil
}

// scalar sets the column up for a type without parts; false when it has some.
func (c *column) scalar(of arrow.DataType) bool {
	switch t := of.(type) {
	case *arrow.BooleanType:
		c.kind = booleans
	case *arrow.Int32Type:
		c.kind, c.width, c.integerBits = integers, 4, 32
	case *arrow.Int64Type:
		c.kind, c.width, c.integerBits = integers, 8, 64
	case *arrow.Float32Type:
		c.kind, c.width = floats, 4
	case *arrow.Float64Type:
		c.kind, c.width = doubles, 8
	case *arrow.Decimal128Type:
		c.kind, c.width, c.precision, c.scale = decimals, 16, int(t.Precision), int(t.Scale)
	default:
		return c.temporal(of) || c.bytes(of)
	}
	return true
}

func (c *column) temporal(of arrow.DataType) bool {
	switch t := of.(type) {
	case *arrow.Date32Type:
		c.kind, c.width = dates, 4
	case *arrow.Time64Type:
		c.kind, c.width, c.digits = times, 8, unitDigits(t.Unit)
	case *arrow.TimestampType:
		c.kind, c.width, c.digits, c.zoned = timestamps, 8, unitDigits(t.Unit), t.TimeZone != ""
	default:
		return false
	}
	return true
}

func (c *column) bytes(of arrow.DataType) bool {
	switch t := of.(type) {
	case *arrow.StringType:
		c.kind, c.offsets = texts, []int32{0}
	case *arrow.BinaryType:
		c.kind, c.offsets = binaries, []int32{0}
	case *arrow.FixedSizeBinaryType:
		c.kind, c.width = fixeds, t.ByteWidth
	case arrow.ExtensionType:
		storage, ok := t.StorageType().(*arrow.FixedSizeBinaryType)
		if !ok || t.ExtensionName() != uuidName || storage.ByteWidth != uuidBytes {
			return false
		}
		c.kind, c.width = uuids, uuidBytes
	default:
		return false
	}
	return true
}

const (
	uuidName  = "arrow.uuid"
	uuidBytes = 16
)

// place finds a part of a struct by its name. The parts mostly come in order: then it is the expected one.
func (c *column) place(name []byte, expected int) (int, bool) {
	if expected < len(c.parts) && c.parts[expected].field.Name == string(name) {
		return expected, true
	}
	place, ok := c.names[string(name)]
	return place, ok
}

// mark says of the value that is being added whether it is there.
func (c *column) mark(valid bool) {
	if c.values%bitsOfByte == 0 {
		c.valid = append(c.valid, 0)
	}
	if valid {
		bitutil.SetBit(c.valid, c.values)
	} else {
		c.nulls++
	}
	c.values++
}

// null adds NULL.
func (c *column) null() {
	switch c.kind {
	case booleans:
		c.bit(false)
	case texts, binaries, lists, maps:
		c.offsets = append(c.offsets, c.offsets[len(c.offsets)-1])
	case structs:
		for _, p := range c.parts {
			p.null()
		}
	default:
		c.data = append(c.data, make([]byte, c.width)...)
	}
	c.mark(false)
}

func (c *column) bit(v bool) {
	if c.values%bitsOfByte == 0 {
		c.data = append(c.data, 0)
	}
	if v {
		bitutil.SetBit(c.data, c.values)
	}
}

func (c *column) addBoolean(v bool) {
	c.bit(v)
	c.mark(true)
}

// addInteger adds a value that is kept in 4 or 8 bytes.
func (c *column) addInteger(v int64) {
	if c.width == 4 {
		c.data = binary.LittleEndian.AppendUint32(c.data, uint32(v))
	} else {
		c.data = binary.LittleEndian.AppendUint64(c.data, uint64(v))
	}
	c.mark(true)
}

func (c *column) addFloat(v float64) {
	if c.width == 4 {
		c.data = binary.LittleEndian.AppendUint32(c.data, math.Float32bits(float32(v)))
	} else {
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(v))
	}
	c.mark(true)
}

func (c *column) addWide(low, high uint64) {
	c.data = binary.LittleEndian.AppendUint64(c.data, low)
	c.data = binary.LittleEndian.AppendUint64(c.data, high)
	c.mark(true)
}

// addBytes adds a value of fixed or variable length.
func (c *column) addBytes(v []byte) {
	c.data = append(c.data, v...)
	c.addedBytes()
}

// addedBytes adds what was appended to data since the value before.
func (c *column) addedBytes() {
	if c.width == 0 {
		c.offsets = append(c.offsets, int32(len(c.data)))
	}
	c.mark(true)
}

// addParts adds a list or map of what was added to the parts since the value before.
func (c *column) addParts() {
	c.offsets = append(c.offsets, int32(c.parts[0].values))
	c.mark(true)
}

// truncate takes all values but the first n back, with whatever was begun behind them.
func (c *column) truncate(n int) {
	switch {
	case c.kind == structs:
		for _, p := range c.parts {
			p.truncate(n)
		}
	case c.kind == lists || c.kind == maps:
		c.offsets = c.offsets[:n+1]
		for _, p := range c.parts {
			p.truncate(int(c.offsets[n]))
		}
	case c.offsets != nil:
		c.offsets = c.offsets[:n+1]
		c.data = c.data[:c.offsets[n]]
	case c.kind == booleans:
		c.data = clearBits(c.data, n)
	default:
		c.data = c.data[:n*c.width]
	}
	if c.values > n {
		c.nulls -= c.values - n - (bitutil.CountSetBits(c.valid, n, c.values-n))
		c.valid = clearBits(c.valid, n)
		c.values = n
	}
}

// clearBits leaves the first n bits.
func clearBits(bits []byte, n int) []byte {
	bits = bits[:min((n+bitsOfByte-1)/bitsOfByte, len(bits))]
	if n%bitsOfByte != 0 && len(bits) > 0 {
		bits[len(bits)-1] &= 1<<(n%bitsOfByte) - 1
	}
	return bits
}

// take gives the values as Arrow data and begins anew.
func (c *column) take() arrow.ArrayData {
	buffers := []*memory.Buffer{nil}
	if c.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(c.valid)
	}
	var children []arrow.ArrayData
	switch c.kind {
	case structs:
		for _, p := range c.parts {
			children = append(children, p.take())
		}
	case lists:
		buffers = append(buffers, c.offsetBuffer())
		children = append(children, c.parts[0].take())
	case maps:
		buffers = append(buffers, c.offsetBuffer())
		children = append(children, c.entries())
	case texts, binaries:
		buffers = append(buffers, c.offsetBuffer(), memory.NewBufferBytes(c.data))
	default:
		buffers = append(buffers, memory.NewBufferBytes(c.data))
	}
	data := array.NewData(c.field.Type, c.values, buffers, children, c.nulls, 0)
	for _, child := range children {
		child.Release()
	}
	c.values, c.nulls = 0, 0
	c.valid, c.data = make([]byte, 0, len(c.valid)), make([]byte, 0, len(c.data))
	if c.offsets != nil {
		c.offsets = append(make([]int32, 0, len(c.offsets)), 0)
	}
	return data
}

func (c *column) offsetBuffer() *memory.Buffer {
	return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.offsets))
}

// entries gives the struct of keys and values that a map is a list of.
func (c *column) entries() arrow.ArrayData {
	n := c.parts[0].values
	children := []arrow.ArrayData{c.parts[0].take(), c.parts[1].take()}
	data := array.NewData(c.field.Type.(*arrow.MapType).Elem(), n, []*memory.Buffer{nil}, children, 0, 0)
	for _, child := range children {
		child.Release()
	}
	return data
}
