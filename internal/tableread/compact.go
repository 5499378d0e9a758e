package tableread

import (
	"encoding/binary"
	"errors"
)

// errDecode says that a file is not what it should be. It is the cause of faults and never shown.
var errDecode = errors.New("malformed")

// compactReader reads structs in Thrift's compact protocol, as far as page headers and the shape of a schema need. bad is
// set by the first thing that is not there.
type compactReader struct {
	raw []byte
	bad bool
}

// The types of the compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactI16    = 4
	compactI32    = 5
	compactI64    = 6
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
)

// deepestStruct bounds the nesting of structs that are skipped.
const deepestStruct = 64

func (c *compactReader) byte() byte {
	if len(c.raw) == 0 {
		c.bad = true
		return 0
	}
	b := c.raw[0]
	c.raw = c.raw[1:]
	return b
}

func (c *compactReader) uvarint() uint64 {
	v, n := binary.Uvarint(c.raw)
	if n <= 0 {
		c.bad, c.raw = true, nil
		return 0
	}
	c.raw = c.raw[n:]
	return v
}

func (c *compactReader) int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (c *compactReader) drop(n uint64) {
	if n > uint64(len(c.raw)) {
		c.bad, c.raw = true, nil
		return
	}
	c.raw = c.raw[n:]
}

// eachField calls visit with the id and type of every field of a struct; visit reads or skips its value.
func (c *compactReader) eachField(visit func(id int, typ byte)) {
	id := 0
	for !c.bad {
		head := c.byte()
		if head == 0 {
			return
		}
		if delta := int(head >> 4); delta != 0 {
			id += delta
		} else {
			id = int(c.int())
		}
		visit(id, head&0x0f)
	}
}

// list reads the head of a list.
func (c *compactReader) list() (size uint64, typ byte) {
	head := c.byte()
	size, typ = uint64(head>>4), head&0x0f
	if size == 15 {
		size = c.uvarint()
	}
	if size > uint64(len(c.raw)) { // an element takes a byte or more
		c.bad, size = true, 0
	}
	return size, typ
}

// skip passes over a field's value.
func (c *compactReader) skip(typ byte, depth int) {
	if depth > deepestStruct {
		c.bad = true
		return
	}
	switch typ {
	case compactTrue, compactFalse:
	case compactByte:
		c.byte()
	case compactI16, compactI32, compactI64:
		c.uvarint()
	case compactDouble:
		c.drop(8)
	case compactBinary:
		c.drop(c.uvarint())
	case compactList, compactSet:
		size, element := c.list()
		for ; size > 0 && !c.bad; size-- {
			c.skipElement(element, depth)
		}
	case compactMap:
		c.skipMap(depth)
	case compactStruct:
		c.eachField(func(_ int, typ byte) { c.skip(typ, depth+1) })
	default:
		c.bad = true
	}
}

// skipElement passes over an element of a list or map, where booleans take a byte.
func (c *compactReader) skipElement(typ byte, depth int) {
	if typ == compactTrue || typ == compactFalse {
		c.byte()
		return
	}
	c.skip(typ, depth+1)
}

func (c *compactReader) skipMap(depth int) {
	size := c.uvarint()
	if size == 0 {
		return
	}
	types := c.byte()
	for ; size > 0 && !c.bad; size-- {
		c.skipElement(types>>4, depth)
		c.skipElement(types&0x0f, depth)
	}
}

// pageHeader is what is needed of the header of a page.
type pageHeader struct {
	kind       int64 // of the constants below
	compressed int64 // bytes after the header
	values     int64 // NULL included
	header     int64 // bytes of the header itself
}

// The kinds of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

// readPageHeader reads the header that raw starts with; false when it is not whole or makes no sense.
func readPageHeader(raw []byte) (pageHeader, bool) {
	c := compactReader{raw: raw}
	h := pageHeader{kind: -1, compressed: -1}
	c.eachField(func(id int, typ byte) {
		switch {
		case id == 1 && typ == compactI32:
			h.kind = c.int()
		case id == 3 && typ == compactI32:
			h.compressed = c.int()
		case (id == 5 || id == 7 || id == 8) && typ == compactStruct:
			c.eachField(func(id int, typ byte) {
				if id == 1 && typ == compactI32 {
					h.values = c.int()
					return
				}
				c.skip(typ, 0)
			})
		default:
			c.skip(typ, 0)
		}
	})
	h.header = int64(len(raw) - len(c.raw))
	return h, !c.bad && h.kind >= 0 && h.compressed >= 0 && h.values >= 0
}

// deepestSchema bounds the nesting of a file's columns.
const deepestSchema = 200

// checkShape refuses a footer whose schema nests deeper than decoders, which recurse, should be led.
func checkShape(footer []byte) error {
	c := compactReader{raw: footer}
	open := []int64{} // children yet to come of each group that is open
	tooDeep := false
	c.eachField(func(id int, typ byte) {
		if id != 2 || typ != compactList {
			c.skip(typ, 0)
			return
		}
		size, _ := c.list()
		for ; size > 0 && !c.bad && !tooDeep; size-- {
			children := c.schemaElement()
			for len(open) > 0 && open[len(open)-1] == 0 {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				open[len(open)-1]--
			}
			if children > 0 {
				open = append(open, children)
			}
			tooDeep = len(open) > deepestSchema
		}
		c.bad = c.bad || tooDeep
	})
	if c.bad {
		return errDecode
	}
	return nil
}

// schemaElement gives how many children one has.
func (c *compactReader) schemaElement() (children int64) {
	c.eachField(func(id int, typ byte) {
		if id == 5 && typ == compactI32 {
			children = c.int()
			return
		}
		c.skip(typ, 0)
	})
	return children
}
