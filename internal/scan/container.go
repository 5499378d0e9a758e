package scan

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/apache/iceberg-go"
)

// mostInflated bounds what one Avro file may grow to in memory, in bytes. Manifests aim at 8 MB.
const mostInflated = 256 << 20

var errContainer = errors.New("no whole Avro file")

// checkContainer tells whether a file is a whole Avro container that does not unpack to more than it may, which the
// decoder does not ask. It gives the file's header.
func checkContainer(raw []byte) (header map[string][]byte, err error) {
	r := frame{raw: raw}
	if string(r.take(4)) != "Obj\x01" {
		return nil, errContainer
	}
	header = r.header()
	mark := r.take(16)
	budget := int64(mostInflated)
	deflated := string(header["avro.codec"]) == "deflate"
	for !r.bad && len(r.raw) > 0 {
		r.long() // the number of entries
		block := r.bytes()
		if !bytes.Equal(r.take(16), mark) {
			return nil, errContainer
		}
		if deflated {
			n, _ := io.Copy(io.Discard, io.LimitReader(flate.NewReader(bytes.NewReader(block)), budget+1))
			if budget -= n; budget < 0 {
				return nil, errContainer
			}
		}
	}
	if r.bad {
		return nil, errContainer
	}
	return header, nil
}

// frame reads the parts of a container; bad is set by the first that is not there.
type frame struct {
	raw []byte
	bad bool
}

func (f *frame) take(n int64) []byte {
	if n < 0 || n > int64(len(f.raw)) {
		f.bad, f.raw = true, nil
		return nil
	}
	out := f.raw[:n]
	f.raw = f.raw[n:]
	return out
}

func (f *frame) long() int64 {
	v, n := binary.Varint(f.raw)
	if n <= 0 {
		f.bad, f.raw = true, nil
		return 0
	}
	f.raw = f.raw[n:]
	return v
}

func (f *frame) bytes() []byte { return f.take(f.long()) }

func (f *frame) header() map[string][]byte {
	out := make(map[string][]byte)
	for !f.bad {
		n := f.long()
		if n < 0 {
			n = -n
			f.long()
		}
		if n == 0 {
			return out
		}
		for ; n > 0 && !f.bad; n-- {
			key := string(f.bytes())
			out[key] = f.bytes()
		}
	}
	return out
}

// ManifestSchema gives the schema that a manifest was written by. Java's writers say its id in the schema alone, others beside it.
func ManifestSchema(raw []byte) (*iceberg.Schema, error) {
	header, err := checkContainer(raw)
	if err != nil {
		return nil, err
	}
	var schema iceberg.Schema
	if err := json.Unmarshal(header["schema"], &schema); err != nil {
		return nil, err
	}
	if id, err := strconv.Atoi(string(header["schema-id"])); err == nil {
		schema.ID = id
	}
	return &schema, nil
}
