package reconcile

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
)

// maxInflated bounds what one Avro file may grow to in memory, in bytes. Manifests aim at 8 MB.
const maxInflated = 256 << 20

// deflateRatio is the most that deflate can shrink data by.
const deflateRatio = 1032

// magic opens every Avro object container file.
const magic = "Obj\x01"

// container is the frame of an Avro file: its header, and its blocks still packed.
type container struct {
	meta   map[string][]byte
	sync   []byte
	blocks []byte
}

func openContainer(raw []byte) (container, error) {
	r := newAvroReader(raw)
	if string(r.take(len(magic))) != magic {
		return container{}, fmt.Errorf("%w: no Avro header", errDecode)
	}
	c := container{meta: r.header(), sync: r.take(16), blocks: r.raw}
	if r.bad || len(c.meta["avro.schema"]) == 0 {
		return container{}, fmt.Errorf("%w: broken Avro header", errDecode)
	}
	return c, nil
}

func (c *container) deflated() bool { return string(c.meta["avro.codec"]) == "deflate" }

// plain tells whether the codec is one that eachBlock unpacks.
func (c *container) plain() bool {
	codec := string(c.meta["avro.codec"])
	return codec == "" || codec == "null" || codec == "deflate"
}

// check walks the blocks: the file must be whole and must not be a decompression bomb. Only deflated data can be one:
// the decoder knows no stronger codec.
func (c *container) check() error {
	suspect := c.deflated() && len(c.blocks) > maxInflated/deflateRatio
	budget := int64(maxInflated)
	return c.walk(func(_ int64, data []byte) error {
		if suspect {
			n, _ := io.Copy(io.Discard, io.LimitReader(flate.NewReader(bytes.NewReader(data)), budget+1))
			budget -= n
		}
		return tooBig(budget)
	})
}

func tooBig(budget int64) error {
	if budget < 0 {
		return fmt.Errorf("%w: it unpacks to more than %d MB", errDecode, maxInflated>>20)
	}
	return nil
}

// eachBlock unpacks the blocks one after the other.
func (c *container) eachBlock(visit func(count int64, r *avroReader) error) error {
	budget := int64(maxInflated)
	return c.walk(func(count int64, data []byte) error {
		if c.deflated() {
			var err error
			if data, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), budget+1)); err != nil {
				return fmt.Errorf("%w: %w", errDecode, err)
			}
		}
		budget -= int64(len(data))
		if err := tooBig(budget); err != nil {
			return err
		}
		r := newAvroReader(data)
		if err := visit(count, r); err != nil {
			return err
		}
		if r.bad || len(r.raw) > 0 {
			return fmt.Errorf("%w: damaged block", errDecode)
		}
		return nil
	})
}

func (c *container) walk(visit func(count int64, data []byte) error) error {
	r := newAvroReader(c.blocks)
	for len(r.raw) > 0 {
		count, data := r.long(), r.bytes()
		if mark := r.take(16); r.bad || count < 0 || !bytes.Equal(mark, c.sync) {
			return fmt.Errorf("%w: truncated or damaged", errDecode)
		}
		if err := visit(count, data); err != nil {
			return err
		}
	}
	return nil
}

// avroReader reads Avro's binary encoding. bad is set by the first thing that cannot be; everything after reads as zero.
// steps bounds the values read, in proportion to the data: an array of a billion nulls takes no bytes.
type avroReader struct {
	raw   []byte
	bad   bool
	steps int
}

func newAvroReader(data []byte) *avroReader { return &avroReader{raw: data, steps: 64 + 64*len(data)} }

func (r *avroReader) fail() { r.bad, r.raw = true, nil }

func (r *avroReader) take(n int) []byte {
	if n < 0 || n > len(r.raw) {
		r.fail()
		return nil
	}
	out := r.raw[:n:n]
	r.raw = r.raw[n:]
	return out
}

func (r *avroReader) long() int64 {
	v, n := binary.Varint(r.raw)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.raw = r.raw[n:]
	return v
}

func (r *avroReader) bytes() []byte {
	n := r.long()
	if n > int64(len(r.raw)) {
		n = -1
	}
	return r.take(int(n))
}

// items calls read for each item of an array or map.
func (r *avroReader) items(read func()) {
	for !r.bad {
		n := r.long()
		if n < 0 { // a block that states its size
			n = -n
			r.long()
		}
		if n == 0 {
			return
		}
		for ; n > 0 && !r.spent(); n-- {
			read()
		}
	}
}

// header reads the map of bytes that opens a file.
func (r *avroReader) header() map[string][]byte {
	out := make(map[string][]byte)
	r.items(func() {
		key := string(r.bytes())
		out[key] = r.bytes()
	})
	return out
}
