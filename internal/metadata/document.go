package metadata

import (
	"encoding/json"

	"github.com/sluice-data/sluice/internal/fault"
)

// section is one top-level member of the document. lead is everything from the separator to the
// value (spacing, key, colon), trail the spacing after it, so that a document keeps its layout.
type section struct {
	name               string
	lead, value, trail []byte
}

// Document is one version of a table's metadata. It is immutable and safe for concurrent use.
type Document struct {
	raw        []byte
	head, tail []byte // up to and including the opening brace; from the closing brace
	sections   []section
	view       view
	snapshots  snapshotIndex
	log        logEnd
}

// Parse reads a metadata document. It keeps raw, which must not be modified afterwards. The error is
// Invalid for what no engine could open: broken JSON, duplicate keys, missing or ill-typed required
// members, refs or a current snapshot that point nowhere. Unknown members, types and transforms pass.
func Parse(raw []byte) (*Document, error) {
	if err := checkJSON(raw, maxDepth); err != nil {
		return nil, err
	}
	d, err := splitSections(raw)
	if err != nil {
		return nil, err
	}
	if d.snapshots, err = indexSnapshots(d.sectionValue("snapshots")); err != nil {
		return nil, err
	}
	if d.log, err = readLogEnd(d.sectionValue("snapshot-log")); err != nil {
		return nil, err
	}
	if d.view, err = readView(d, nil, nil); err != nil {
		return nil, err
	}
	if err := d.checkSnapshots(); err != nil {
		return nil, err
	}
	return d, nil
}

func splitSections(raw []byte) (*Document, error) {
	pos := skipSpace(raw, 0)
	if raw[pos] != '{' {
		return nil, fault.New(fault.Invalid, "Cannot parse table metadata: it is not a JSON object")
	}
	d := &Document{raw: raw, head: raw[: pos+1 : pos+1]}
	pos++
	for {
		start := pos
		pos = skipSpace(raw, pos)
		if raw[pos] == '}' {
			d.tail = raw[pos:]
			return d, nil
		}
		keyEnd := skipString(raw, pos)
		s := section{name: string(unquoteBytes(raw[pos:keyEnd]))}
		pos = skipSpace(raw, skipSpace(raw, keyEnd)+1)
		end := skipValue(raw, pos)
		next := skipSpace(raw, end)
		s.lead, s.value, s.trail = raw[start:pos:pos], raw[pos:end:end], raw[end:next:next]
		d.sections = append(d.sections, s)
		if pos = next; raw[pos] == ',' {
			pos++
		}
	}
}

// Bytes is the document as JSON: the parsed bytes for a parsed document. It must not be modified.
func (d *Document) Bytes() []byte { return d.raw }

// Size is the number of bytes the document holds, for a cache's budget.
func (d *Document) Size() int {
	const fixed, perSection, perSnapshot, perRef = 1024, 96, 128, 128
	size := len(d.raw) + fixed + perSection*len(d.sections) + perSnapshot*d.snapshots.len() + perRef*len(d.view.refs)
	if value, ok := d.Section("properties"); ok {
		size += 2 * len(value)
	}
	return size + 4*d.view.currentSchemaSize
}

// Section gives the bytes of one top-level member, which must not be modified.
func (d *Document) Section(name string) (json.RawMessage, bool) {
	for i := range d.sections {
		if d.sections[i].name == name {
			return d.sections[i].value, true
		}
	}
	return nil, false
}

// sectionValue is Section without the distinction of absent, null and empty: all give nil.
func (d *Document) sectionValue(name string) json.RawMessage {
	if value, ok := d.Section(name); ok && !isNull(value) {
		return value
	}
	return nil
}

// RefsOnlyBytes is the document with its snapshots reduced to those a ref names, for the REST
// parameter snapshots=refs. Everything else, the snapshot log too, stays. The caller may keep it.
func (d *Document) RefsOnlyBytes() []byte {
	named := make(map[int64]bool, len(d.view.refs))
	for _, ref := range d.view.refs {
		named[ref.SnapshotID] = true
	}
	if d.view.hasCurrent {
		named[d.view.current] = true
	}
	value := d.sectionValue("snapshots")
	parts := [][]byte{{'['}}
	for i := range d.snapshots.len() {
		if e := d.snapshots.at(i); named[e.id] {
			if len(parts) > 1 {
				parts = append(parts, []byte{','})
			}
			parts = append(parts, value[e.start:e.end])
		}
	}
	if len(named) == 0 && value == nil {
		return d.raw
	}
	layout := newLayout(d)
	layout.set("snapshots", append(parts, []byte{']'})...)
	return layout.assemble().raw
}
