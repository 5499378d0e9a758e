package reconcile

import (
	"encoding/binary"
	"io"
)

// avroReader reads Avro's binary encoding, from memory or from a stream through a small window. bad is set by the first
// thing that cannot be; everything after reads as zero. Bytes that it gives are valid until the next read.
// steps bounds the values read, in proportion to the data: an array of a billion nulls takes no bytes.
type avroReader struct {
	raw   []byte // what is left of the window
	src   io.Reader
	buf   []byte // the window's memory
	seen  int64  // bytes taken from the source so far
	limit int64  // most that may be
	over  bool   // the limit was reached
	bad   bool
	steps int
}

// window is the memory to read a stream through, as long as nothing larger has to be seen in one piece.
const window = 8 << 10

func newAvroReader(data []byte) *avroReader {
	return &avroReader{raw: data, seen: int64(len(data)), limit: maxInflated, steps: 64 + 64*len(data)}
}

func streamReader(src io.Reader) *avroReader {
	return &avroReader{src: src, limit: maxInflated, steps: 64}
}

func (r *avroReader) fail() { r.bad, r.raw, r.src = true, nil, nil }

// fault says what is wrong with what was read.
func (r *avroReader) fault() string {
	if r.over {
		return "it unpacks to more than it may"
	}
	return "damaged block"
}

// at is the number of bytes read.
func (r *avroReader) at() int64 { return r.seen - int64(len(r.raw)) }

// more tells whether there is anything left to read.
func (r *avroReader) more() bool { return r.fill(1) }

// fill tries to have n bytes in the window.
func (r *avroReader) fill(n int) bool {
	for len(r.raw) < n && r.src != nil {
		if n > maxRecord {
			r.fail()
			return false
		}
		if n > len(r.buf) {
			grown := make([]byte, max(n, window, min(2*len(r.buf), maxRecord)))
			copy(grown, r.raw)
			r.buf = grown
		} else {
			copy(r.buf, r.raw)
		}
		r.pull()
	}
	return len(r.raw) >= n
}

// pull reads on into the window, behind what is left of it.
func (r *avroReader) pull() {
	kept := len(r.raw)
	n, err := r.src.Read(r.buf[kept:])
	r.raw = r.buf[:kept+n]
	r.seen += int64(n)
	r.steps += 64 * n
	switch {
	case r.seen > r.limit:
		r.over = true
		r.fail()
	case err == io.EOF:
		r.src = nil
	case err != nil:
		r.fail()
	}
}

func (r *avroReader) take(n int) []byte {
	if n < 0 || !r.fill(n) {
		r.fail()
		return nil
	}
	out := r.raw[:n:n]
	r.raw = r.raw[n:]
	return out
}

// drop reads over n bytes without keeping them.
func (r *avroReader) drop(n int64) {
	for n > int64(len(r.raw)) && r.src != nil {
		n -= int64(len(r.raw))
		r.raw = nil
		r.fill(1)
	}
	if n < 0 || n > int64(len(r.raw)) {
		r.fail()
		return
	}
	r.raw = r.raw[n:]
}

func (r *avroReader) long() int64 {
	r.fill(binary.MaxVarintLen64)
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
	if r.src == nil && n > int64(len(r.raw)) || r.src != nil && n > maxRecord {
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
		if out[key] = r.bytes(); len(out) > mostHeaders {
			r.fail()
		}
	})
	return out
}
