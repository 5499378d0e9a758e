package rows_test

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// dagSchema is the message of a schema of a struct of twice the same struct, and so on: some hundred bytes that stand
// for hundreds of millions of fields.
func dagSchema() []byte {
	const levels, structType, schemaMessage, version = 28, 13, 1, 4
	b := flatbuffers.NewBuilder(1024)
	name := b.CreateString("v")
	b.StartObject(0)
	kind := b.EndObject()
	field := func(children flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartObject(7)
		b.PrependUOffsetTSlot(0, name, 0)
		b.PrependByteSlot(2, structType, 0)
		b.PrependUOffsetTSlot(3, kind, 0)
		if children != 0 {
			b.PrependUOffsetTSlot(5, children, 0)
		}
		return b.EndObject()
	}
	vector := func(of ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartVector(4, len(of), 4)
		for _, o := range of {
			b.PrependUOffsetT(o)
		}
		return b.EndVector(len(of))
	}
	last := field(0)
	for range levels {
		last = field(vector(last, last))
	}
	fields := vector(last)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependInt16Slot(0, version, 0)
	b.PrependByteSlot(1, schemaMessage, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	for len(meta)%8 != 0 {
		meta = append(meta, 0)
	}
	out := binary.LittleEndian.AppendUint32(nil, 0xFFFFFFFF)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(meta)))
	return append(append(out, meta...), 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0)
}
