package rows

import (
	"encoding/binary"
	"errors"
	"math"
)

// flat reads tables of the flatbuffers that Arrow messages are described by. Offsets in them may point anywhere, also
// many to the same place, so that a small message unfolds to a large one: whatever is visited is counted.
type flat struct {
	data []byte
	cost int64 // bytes that reading the message may still take
}

// flatTable is the position of a table.
type flatTable int

var (
	errFlat      = errors.New("rows: malformed Arrow message")
	errFlatLarge = errors.New("rows: Arrow message unfolds beyond the limit")
)

const (
	flatOffset = 4 // bytes of an offset
	flatSlot   = 2 // bytes of an entry of a vtable
)

func (f *flat) spend(n int64) error {
	if f.cost -= n; f.cost < 0 {
		return errFlatLarge
	}
	return nil
}

func (f *flat) inside(at, size int) bool { return at >= 0 && size >= 0 && at <= len(f.data)-size }

func (f *flat) uint32(at int) (int, error) {
	if !f.inside(at, flatOffset) {
		return 0, errFlat
	}
	v := binary.LittleEndian.Uint32(f.data[at:])
	if v > math.MaxInt32 {
		return 0, errFlat
	}
	return int(v), nil
}

// root gives the table that the data is of.
func (f *flat) root() (flatTable, error) {
	at, err := f.uint32(0)
	if err != nil || !f.inside(at, flatOffset) {
		return 0, errFlat
	}
	return flatTable(at), nil
}

// field gives where the field of a table is, 0 where it has none.
func (f *flat) field(t flatTable, n int) (int, error) {
	if !f.inside(int(t), flatOffset) {
		return 0, errFlat
	}
	vtable := int(t) - int(int32(binary.LittleEndian.Uint32(f.data[t:])))
	if !f.inside(vtable, 2*flatSlot) {
		return 0, errFlat
	}
	size := int(binary.LittleEndian.Uint16(f.data[vtable:]))
	slot := 2*flatSlot + n*flatSlot
	if slot >= size { // as the Arrow library reads it, for sizes that are odd too
		return 0, nil
	}
	if !f.inside(vtable+slot, flatSlot) {
		return 0, errFlat
	}
	offset := int(binary.LittleEndian.Uint16(f.data[vtable+slot:]))
	if offset == 0 {
		return 0, nil
	}
	return int(t) + offset, nil
}

// small gives a field of one byte, 0 where there is none.
func (f *flat) small(t flatTable, n int) (byte, error) {
	at, err := f.field(t, n)
	if err != nil || at == 0 {
		return 0, err
	}
	if !f.inside(at, 1) {
		return 0, errFlat
	}
	return f.data[at], nil
}

// long gives a field of eight bytes, 0 where there is none.
func (f *flat) long(t flatTable, n int) (int64, error) {
	at, err := f.field(t, n)
	if err != nil || at == 0 {
		return 0, err
	}
	return f.int64(at)
}

func (f *flat) int64(at int) (int64, error) {
	if !f.inside(at, 8) {
		return 0, errFlat
	}
	return int64(binary.LittleEndian.Uint64(f.data[at:])), nil
}

// table gives the table that a field points to; false where there is none.
func (f *flat) table(t flatTable, n int) (flatTable, bool, error) {
	at, err := f.field(t, n)
	if err != nil || at == 0 {
		return 0, false, err
	}
	offset, err := f.uint32(at)
	if err != nil || !f.inside(at+offset, flatOffset) {
		return 0, false, errFlat
	}
	return flatTable(at + offset), true, nil
}

// vector gives where the elements of a field are and how many, each of so many bytes.
func (f *flat) vector(t flatTable, n, size int) (at, count int, err error) {
	at, err = f.field(t, n)
	if err != nil || at == 0 {
		return 0, 0, err
	}
	offset, err := f.uint32(at)
	if err != nil {
		return 0, 0, err
	}
	at += offset
	if count, err = f.uint32(at); err != nil {
		return 0, 0, err
	}
	at += flatOffset
	if count > len(f.data) || !f.inside(at, count*size) {
		return 0, 0, errFlat
	}
	return at, count, f.spend(int64(count * size))
}

// each visits the tables of a vector.
func (f *flat) each(t flatTable, n int, visit func(flatTable) error) error {
	at, count, err := f.vector(t, n, flatOffset)
	if err != nil {
		return err
	}
	for i := range count {
		offset, err := f.uint32(at + i*flatOffset)
		if err != nil || !f.inside(at+i*flatOffset+offset, flatOffset) {
			return errFlat
		}
		if err := visit(flatTable(at + i*flatOffset + offset)); err != nil {
			return err
		}
	}
	return nil
}

// text counts a string.
func (f *flat) text(t flatTable, n int) error {
	_, _, err := f.vector(t, n, 1)
	return err
}
