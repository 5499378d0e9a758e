package rows

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/zstd"

	"github.com/sluice-data/sluice/internal/fault"
)

// Bounds of the messages of an Arrow stream.
const (
	mostMetadata = 4 << 20  // bytes of the description of a message, and what it unfolds to
	mostRows     = 16 << 20 // of one message
	mostNesting  = 32
	fieldCost    = 256 // bytes that a field of a schema takes in memory, at least
)

// Words of the Arrow format: kinds of messages and of types.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
	timestampType     = 10
	unionType         = 14
	continuation      = 0xFFFFFFFF
	zstdCodec         = 1
)

// messages reads the messages of an Arrow stream and refuses what would take more memory than it may, before the Arrow
// library sees it. A stream must end with its end marker: without it nobody knows whether rows are missing.
type messages struct {
	in     io.Reader
	memory *bounded
	last   *ipc.Message
	kind   byte
	rows   int64 // of the last batch
	most   int64
}

func newMessages(in io.Reader, most int64) *messages {
	return &messages{in: in, most: most, memory: &bounded{Allocator: memory.DefaultAllocator, most: most}}
}

// Retain is there for the Arrow library: one reader has the messages.
func (m *messages) Retain() {}

// Release is there for the Arrow library.
func (m *messages) Release() {}

// Message gives the next message, io.EOF at the end marker.
func (m *messages) Message() (*ipc.Message, error) {
	m.settle()
	size, err := m.prefix()
	if err != nil {
		return nil, err
	}
	meta := make([]byte, size)
	if err := m.fill(meta); err != nil {
		return nil, err
	}
	f := &flat{data: meta, cost: mostMetadata}
	body, err := m.examine(f)
	if err != nil {
		return nil, err
	}
	if body < 0 || body > m.most {
		return nil, tooLargeMessage(m.most)
	}
	m.memory.used += body
	data := make([]byte, body)
	if err := m.fill(data); err != nil {
		return nil, err
	}
	if err := checkBuffers(f, m.kind, data, m.most); err != nil {
		return nil, err
	}
	m.last = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(data))
	return m.last, nil
}

// settle forgets the memory of the last message, but for dictionaries, which stay.
func (m *messages) settle() {
	if m.kind == dictionaryMessage {
		m.memory.base = m.memory.used
	}
	m.memory.used, m.kind = m.memory.base, 0
}

// prefix reads the size of the next description.
func (m *messages) prefix() (int, error) {
	var word [4]byte
	if err := m.fill(word[:]); err != nil {
		return 0, err
	}
	size := binary.LittleEndian.Uint32(word[:])
	if size == continuation {
		if err := m.fill(word[:]); err != nil {
			return 0, err
		}
		size = binary.LittleEndian.Uint32(word[:])
	}
	if size == 0 {
		return 0, io.EOF
	}
	if size > mostMetadata {
		return 0, fault.New(fault.Invalid, "The rows are no Arrow IPC stream, or a message of it is described by more than %d bytes.", mostMetadata)
	}
	return int(size), nil
}

// fill reads as many bytes as there is room for.
func (m *messages) fill(into []byte) error {
	_, err := io.ReadFull(m.in, into)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.Invalid, "The Arrow stream ends without its end marker, so that rows may be missing: close the stream's writer before sending it.")
	}
	return err
}

func tooLargeMessage(most int64) error {
	return fault.New(fault.TooLarge, "A message of the Arrow stream takes more than %d bytes: send smaller record batches or smaller dictionaries.", most)
}

// examine checks the description of a message and gives how long its body is.
func (m *messages) examine(f *flat) (body int64, err error) {
	root, err := f.root()
	if err != nil {
		return 0, err
	}
	if m.kind, err = f.small(root, 1); err != nil {
		return 0, err
	}
	if body, err = f.long(root, 3); err != nil {
		return 0, err
	}
	if err := f.keyValues(root, 4); err != nil {
		return 0, err
	}
	header, ok, err := f.table(root, 2)
	if err != nil || !ok {
		return 0, errFlat
	}
	if m.kind == schemaMessage {
		if err := f.keyValues(header, 2); err != nil {
			return 0, err
		}
		return body, f.each(header, 1, func(t flatTable) error { return f.schemaField(t, mostNesting) })
	}
	batch, err := batchOf(f, m.kind, header)
	if err != nil {
		return 0, err
	}
	if m.rows, err = f.long(batch, 0); err != nil {
		return 0, err
	}
	if m.rows < 0 || m.rows > mostRows {
		return 0, fault.New(fault.TooLarge, "A record batch of the Arrow stream has %d rows: send batches of at most %d.", m.rows, mostRows)
	}
	return body, nil
}

// batchOf gives the record batch of a message, which in one of a dictionary is a part.
func batchOf(f *flat, kind byte, header flatTable) (flatTable, error) {
	switch kind {
	case batchMessage:
		return header, nil
	case dictionaryMessage:
		if batch, ok, err := f.table(header, 1); err == nil && ok {
			return batch, nil
		}
	}
	return 0, errFlat
}

func (f *flat) keyValues(t flatTable, n int) error {
	return f.each(t, n, func(pair flatTable) error {
		if err := f.text(pair, 0); err != nil {
			return err
		}
		return f.text(pair, 1)
	})
}

// schemaField visits a field of a schema with the fields within.
func (f *flat) schemaField(t flatTable, nesting int) error {
	if nesting == 0 {
		return errFlatLarge
	}
	if err := errors.Join(f.spend(fieldCost), f.text(t, 0), f.keyValues(t, 6), f.typeText(t)); err != nil {
		return err
	}
	return f.each(t, 5, func(child flatTable) error { return f.schemaField(child, nesting-1) })
}

// typeText counts what the type of a field has of variable length.
func (f *flat) typeText(t flatTable) error {
	kind, err := f.small(t, 2)
	if err != nil {
		return err
	}
	of, ok, err := f.table(t, 3)
	if err != nil || !ok {
		return err
	}
	switch kind {
	case timestampType:
		return f.text(of, 1)
	case unionType:
		_, _, err = f.vector(of, 1, flatOffset)
	}
	return err
}

// checkBuffers checks what a batch says of its buffers: that they are within the body and inflate to no more than they may.
func checkBuffers(f *flat, kind byte, body []byte, most int64) error {
	if kind == schemaMessage {
		return nil
	}
	root, err := f.root()
	if err != nil {
		return err
	}
	header, _, err := f.table(root, 2)
	if err != nil {
		return err
	}
	batch, err := batchOf(f, kind, header)
	if err != nil {
		return err
	}
	const bufferBytes = 16
	at, count, err := f.vector(batch, 2, bufferBytes)
	if err != nil {
		return err
	}
	codec, err := compression(f, batch)
	if err != nil {
		return err
	}
	for i := range count {
		offset, err := f.int64(at + i*bufferBytes)
		if err != nil {
			return err
		}
		length, err := f.int64(at + i*bufferBytes + bufferBytes/2)
		if err != nil {
			return err
		}
		if offset < 0 || length < 0 || offset > int64(len(body))-length {
			return errFlat
		}
		if err := checkBuffer(codec, body[offset:offset+length], most); err != nil {
			return err
		}
	}
	return checkVariadic(f, batch, count)
}

// checkVariadic checks how many buffers view columns say they have.
func checkVariadic(f *flat, batch flatTable, buffers int) error {
	const countBytes = 8
	at, count, err := f.vector(batch, 4, countBytes)
	if err != nil {
		return err
	}
	left := int64(buffers)
	for i := range count {
		n, err := f.int64(at + i*countBytes)
		if err != nil || n < 0 || n > left {
			return errFlat
		}
		left -= n
	}
	return nil
}

// compression gives the codec of a batch's buffers, -1 for none.
func compression(f *flat, batch flatTable) (int, error) {
	of, ok, err := f.table(batch, 3)
	if err != nil || !ok {
		return -1, err
	}
	codec, err := f.small(of, 0)
	return int(codec), err
}

// checkBuffer checks a buffer that is compressed: before its content stands to how many bytes it inflates, -1 for
// content that is not compressed.
func checkBuffer(codec int, buffer []byte, most int64) error {
	const prefix = 8
	if codec < 0 || len(buffer) == 0 {
		return nil
	}
	if len(buffer) < prefix {
		return errFlat
	}
	size := int64(binary.LittleEndian.Uint64(buffer))
	if size == -1 {
		return nil
	}
	if size < 0 || size > most {
		return tooLargeMessage(most)
	}
	if codec == zstdCodec {
		return checkFrame(buffer[prefix:], most)
	}
	return nil
}

// checkFrame walks over the one Zstandard frame of a buffer: its window is memory too.
func checkFrame(frame []byte, most int64) error {
	var header zstd.Header
	if err := header.Decode(frame); err != nil {
		return errFlat
	}
	if header.Skippable || header.WindowSize > uint64(most) || (header.HasFCS && header.FrameContentSize > uint64(most)) {
		return tooLargeMessage(most)
	}
	const blockHeader, sumBytes, repeated = 3, 4, 1
	at := header.HeaderSize
	for last := false; !last; {
		if at < 0 || at > len(frame)-blockHeader {
			return errFlat
		}
		word := int(frame[at]) | int(frame[at+1])<<8 | int(frame[at+2])<<16
		last = word&1 == 1
		size := word >> 3
		if word>>1&3 == repeated {
			size = 1
		}
		at += blockHeader + size
	}
	if header.HasCheckSum {
		at += sumBytes
	}
	if at != len(frame) {
		return errFlat
	}
	return nil
}

// bounded is an allocator that panics when a message takes more than it may, which the Arrow library makes an error of.
type bounded struct {
	memory.Allocator
	most, used, base int64
}

func (b *bounded) take(n int) {
	if b.used += int64(n); b.used > b.most {
		panic(errBounded)
	}
}

var errBounded = errors.New("rows: Arrow message takes too much memory")

// Allocate gives memory that is counted.
func (b *bounded) Allocate(size int) []byte {
	b.take(size)
	return b.Allocator.Allocate(size)
}

// Reallocate likewise.
func (b *bounded) Reallocate(size int, data []byte) []byte {
	b.take(max(size-len(data), 0))
	return b.Allocator.Reallocate(size, data)
}
