package reconcile

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// magic opens every Avro object container file.
const magic = "Obj\x01"

// What a file's header may hold: entries, and bytes of the Avro schema, which takes far more memory than it has bytes.
const (
	mostHeaders   = 1000
	largestSchema = 1 << 20
	largestHeader = 16 << 20
)

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
	schema := len(c.meta["avro.schema"])
	if r.bad || schema == 0 || schema > largestSchema || len(raw)-len(c.blocks) > largestHeader {
		return container{}, fmt.Errorf("%w: broken Avro header", errDecode)
	}
	return c, nil
}

// unpack gives a reader of a block's records.
func (c *container) unpack(data []byte) (r *avroReader, done func(), err error) {
	none := func() {}
	switch codec := string(c.meta["avro.codec"]); codec {
	case "", "null":
		return newAvroReader(data), none, nil
	case "deflate":
		return streamReader(flate.NewReader(bytes.NewReader(data))), none, nil
	case "snappy":
		data, err := unsnap(data)
		return newAvroReader(data), none, err
	case "zstandard":
		z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return nil, none, fmt.Errorf("%w: %w", errDecode, err)
		}
		return streamReader(z), z.Close, nil
	default:
		return nil, none, fmt.Errorf("%w: unknown codec %q", errDecode, codec)
	}
}

// Snappy is unpacked in whole blocks, which writers make small. snappyRatio is more than it can shrink data by: a block
// that states more is damaged, and is not given the memory.
const (
	snappyRatio  = 24
	largestBlock = 8 << 20
)

// unsnap unpacks Avro's snappy, which ends with a checksum.
func unsnap(data []byte) ([]byte, error) {
	const sum = 4
	if len(data) < sum {
		return nil, fmt.Errorf("%w: damaged block", errDecode)
	}
	packed, want := data[:len(data)-sum], binary.BigEndian.Uint32(data[len(data)-sum:])
	if n, err := snappy.DecodedLen(packed); err != nil || n > largestBlock || n > snappyRatio*len(packed)+64 {
		return nil, fmt.Errorf("%w: damaged block", errDecode)
	}
	plain, err := snappy.Decode(nil, packed)
	if err != nil || crc32.ChecksumIEEE(plain) != want {
		return nil, fmt.Errorf("%w: damaged block", errDecode)
	}
	return plain, nil
}

// extent is what a file unpacks to, in bytes.
type extent struct{ total, largest int64 }

// eachBlock visits the blocks one after the other, unpacking them in small parts. A file that unpacks to more than files
// of its size do is malformed.
func (c *container) eachBlock(visit func(count int64, r *avroReader) error) (extent, error) {
	var size extent
	limit := inflateLimit(len(c.blocks))
	err := c.walk(func(count int64, data []byte) error {
		r, done, err := c.unpack(data)
		defer done()
		if err != nil {
			return err
		}
		r.limit = limit - size.total
		if err := visit(count, r); err != nil {
			return err
		}
		if r.more() || r.bad {
			return fmt.Errorf("%w: %s", errDecode, r.fault())
		}
		size.total += r.seen
		size.largest = max(size.largest, r.seen)
		return nil
	})
	return size, err
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
