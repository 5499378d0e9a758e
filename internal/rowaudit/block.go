package rowaudit

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Record is what is kept of a row that landed.
type Record struct {
	Hash    [HashSize]byte
	Level   models.Classification
	Tags    []string // in order
	Updated bool     // it replaced a row of the table
}

const (
	// MaxRecords is the most that one block has.
	MaxRecords = 16_384
	// format is the first byte of a block; another one is another format.
	format = 1
	// maxPlain bounds what a block unpacks to, in bytes.
	maxPlain = 16 << 20
)

// errDamaged is in every error of what cannot be unpacked.
var errDamaged = errors.New("damaged block")

// Pack puts records into blocks in order of their hashes; those of one hash stay in their order. Blocks have neither write nor
// table: the store fills them in. What does not fit in memory may be packed in parts: each block says itself which hashes it has.
func Pack(records []Record) []models.RowAuditBlock {
	places := inOrder(records)
	blocks := make([]models.RowAuditBlock, 0, (len(records)+MaxRecords-1)/MaxRecords)
	// Most of it are hashes, which nothing shrinks. The options are valid, and there is no other error.
	z, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	defer z.Close() //nolint:errcheck // it writes to memory
	var plain []byte
	block := make([]Record, 0, min(len(records), MaxRecords))
	for part := range slices.Chunk(places, MaxRecords) {
		block = block[:0]
		for _, p := range part {
			block = append(block, records[p.at])
		}
		plain = appendPlain(plain[:0], block)
		first, last := block[0].Hash, block[len(block)-1].Hash
		blocks = append(blocks, models.RowAuditBlock{
			Place: len(blocks), RowCount: int64(len(block)), FirstHash: first[:], LastHash: last[:],
			Content: z.EncodeAll(plain, []byte{format}),
		})
	}
	return blocks
}

// place is where a record of a hash is. Sorting these is several times as fast as sorting records.
type place struct {
	high, low uint64 // the hash
	at        int
}

func inOrder(records []Record) []place {
	places := make([]place, len(records))
	for i := range records {
		hash := &records[i].Hash
		places[i] = place{binary.BigEndian.Uint64(hash[:8]), binary.BigEndian.Uint64(hash[8:]), i}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.high != b.high {
			return cmp.Compare(a.high, b.high)
		}
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.at, b.at))
	})
	return places
}

// appendPlain appends what a block has before it is compressed: the kinds of its records, which of them each is if there are
// more than one, and the hashes, their first bytes before their second ones and so on: the first ones are in order, and shrink.
func appendPlain(to []byte, records []Record) []byte {
	of := make([]uint16, len(records))
	known := make(map[string]uint16)
	var kinds, kind []byte
	for i, r := range records {
		kind = appendKind(kind[:0], r)
		n, ok := known[string(kind)]
		if !ok {
			n = uint16(len(known))
			known[string(kind)] = n
			kinds = append(kinds, kind...)
		}
		of[i] = n
	}
	to = binary.AppendUvarint(to, uint64(len(records)))
	to = binary.AppendUvarint(to, uint64(len(known)))
	to = append(to, kinds...)
	if len(known) > 1 {
		for _, n := range of {
			to = binary.LittleEndian.AppendUint16(to, n)
		}
	}
	hashes := len(to)
	to = slices.Grow(to, HashSize*len(records))[:hashes+HashSize*len(records)]
	for plane := range HashSize {
		for i := range records {
			to[hashes+plane*len(records)+i] = records[i].Hash[plane]
		}
	}
	return to
}

// appendKind appends all of a record but its hash.
func appendKind(to []byte, r Record) []byte {
	var flags byte
	if r.Updated {
		flags = 1
	}
	to = appendText(append(to, flags), string(r.Level))
	to = binary.AppendUvarint(to, uint64(len(r.Tags)))
	for _, tag := range r.Tags {
		to = appendText(to, tag)
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Unpack gives the records of a block, in order of their hashes. fault.Internal when it is damaged or is not the block that its
// row says.
func Unpack(b models.RowAuditBlock) ([]Record, error) {
	records, err := unpack(b)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "The audit of the rows of write %s cannot be read: its block %d is damaged.", b.WriteID, b.Place)
	}
	return records, nil
}

func unpack(b models.RowAuditBlock) ([]Record, error) {
	if len(b.Content) == 0 || b.Content[0] != format {
		return nil, fmt.Errorf("%w: unknown format", errDamaged)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	plain, err := z.DecodeAll(b.Content[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	records, err := readPlain(plain)
	if err != nil {
		return nil, err
	}
	first, last := records[0].Hash, records[len(records)-1].Hash
	if int64(len(records)) != b.RowCount || !bytes.Equal(first[:], b.FirstHash) || !bytes.Equal(last[:], b.LastHash) {
		return nil, fmt.Errorf("%w: another block", errDamaged)
	}
	return records, nil
}

// readPlain is the other way of appendPlain.
func readPlain(plain []byte) ([]Record, error) {
	r := &reader{left: plain}
	rows, kinds := r.number(MaxRecords), r.number(MaxRecords)
	if rows == 0 || kinds == 0 || kinds > rows {
		return nil, fmt.Errorf("%w: no records", errDamaged)
	}
	known := make([]Record, 0, min(kinds, 1000))
	for range kinds {
		if known = append(known, r.kind()); r.bad {
			break
		}
	}
	records := make([]Record, rows)
	for i := range records {
		if n := r.kindOf(kinds); n < len(known) {
			records[i] = known[n]
		} else {
			r.bad = true
		}
	}
	for plane := range HashSize {
		for i, b := range r.take(rows) {
			records[i].Hash[plane] = b
		}
	}
	sorted := slices.IsSortedFunc(records, func(a, b Record) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	if r.bad || len(r.left) > 0 || !sorted {
		return nil, fmt.Errorf("%w: not what was packed", errDamaged)
	}
	return records, nil
}

// reader takes values from bytes. Once there is not what there should be it is bad, and gives nothing any more.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) number(most int) int {
	n, size := binary.Uvarint(r.left)
	if r.bad || size <= 0 || n > uint64(most) {
		r.bad = true
		return 0
	}
	r.left = r.left[size:]
	return int(n)
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.left) {
		r.bad = true
		return nil
	}
	out := r.left[:n]
	r.left = r.left[n:]
	return out
}

func (r *reader) text() string { return string(r.take(r.number(len(r.left)))) }

func (r *reader) kind() Record {
	var out Record
	flags := r.take(1)
	out.Updated = len(flags) == 1 && flags[0] == 1
	out.Level = models.Classification(r.text())
	tags := r.number(len(r.left))
	for range tags {
		if r.bad {
			break
		}
		out.Tags = append(out.Tags, r.text())
	}
	return out
}

// kindOf reads which of so many kinds the next record is of.
func (r *reader) kindOf(kinds int) int {
	if kinds == 1 {
		return 0
	}
	if raw := r.take(2); raw != nil {
		return int(binary.LittleEndian.Uint16(raw))
	}
	return 0
}

// Find gives the records of a hash, which are next to each other in a block.
func Find(records []Record, hash [HashSize]byte) []Record {
	compare := func(r Record, h [HashSize]byte) int { return bytes.Compare(r.Hash[:], h[:]) }
	from, _ := slices.BinarySearchFunc(records, hash, compare)
	to := from
	for to < len(records) && records[to].Hash == hash {
		to++
	}
	return records[from:to]
}
