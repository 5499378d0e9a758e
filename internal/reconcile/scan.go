package reconcile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
)

// entry is what is needed of a manifest entry in most cases. sequence is the data sequence number, inherited where the
// specification says so, as natural gives it.
type entry struct {
	status                  iceberg.ManifestEntryStatus
	snapshot, sequence      int64
	content, records, bytes int64
	path                    string
	statusSeen, puffin      bool
	details                 *details // nil unless wanted
}

// scan calls visit with every entry of a manifest, deleted ones too, and gives what it unpacks to. As decodeList it is
// quick, takes little memory and finds fields by id.
func (s *schemaCache) scan(raw []byte, m *manifest, want *wanted, visit func(entry) error) (extent, error) {
	c, err := openContainer(raw)
	if err != nil {
		return extent{}, err
	}
	schema, err := s.get("entry", c.meta["avro.schema"], entryNames)
	if err != nil {
		return extent{}, err
	}
	if err := checkHeader(c.meta, m); err != nil {
		return extent{}, err
	}
	return c.eachBlock(func(count int64, r *avroReader) error {
		for ; count > 0; count-- {
			start := r.at()
			e := readEntry(r, schema, m, want)
			if r.at()-start > maxRecord {
				return fmt.Errorf("%w: an entry is too large", errDecode)
			}
			if r.bad {
				return nil // eachBlock says so
			}
			if err := visit(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkHeader holds a manifest against what its list says of it: the same content and spec, and no newer version.
func checkHeader(meta map[string][]byte, m *manifest) error {
	version := 1
	if raw := meta["format-version"]; len(raw) > 0 {
		var err error
		if version, err = strconv.Atoi(string(raw)); err != nil || version < 1 {
			return fmt.Errorf("%w: format-version %q", errDecode, raw)
		}
	}
	if version > m.version {
		return fmt.Errorf("%w: a v%d manifest in a v%d list", errDecode, version, m.version)
	}
	content := map[string]int64{"data": dataContent, "deletes": deletesContent}
	if version == 1 {
		content[""] = dataContent
	}
	if is, ok := content[string(meta["content"])]; !ok || is != m.content {
		return fmt.Errorf("%w: content %q is not what its list says", errDecode, meta["content"])
	}
	if raw := meta["partition-spec-id"]; len(raw) > 0 && !m.bare && string(raw) != strconv.FormatInt(m.spec, 10) {
		return fmt.Errorf("%w: partition spec %s is not what its list says", errDecode, raw)
	}
	return nil
}

func readEntry(r *avroReader, schema *avroType, m *manifest, want *wanted) entry {
	e := entry{snapshot: m.snapshot, sequence: unknown, records: -1, bytes: -1}
	if want != nil {
		e.details = &details{offset: -1, size: -1}
	}
	r.record(schema, func(f avroField) {
		switch f.id {
		case 0:
			status := r.integer(f.typ, -1)
			e.status, e.statusSeen = iceberg.ManifestEntryStatus(status), status >= 0 && status <= 2
		case 1:
			e.snapshot = r.snapshot(f.typ, m.snapshot)
		case 2:
			r.record(f.typ, func(f avroField) { e.readFile(r, f, want) })
		case 3:
			e.sequence = r.natural(f.typ)
		default:
			r.skip(f.typ)
		}
	})
	if e.sequence == unknown && (m.sequence == 0 || e.status == iceberg.EntryStatusADDED) {
		e.sequence = m.sequence
	}
	if !e.statusSeen || !e.valid(m) {
		r.fail()
	}
	return e
}

// valid tells whether the entry may be in a manifest of that content.
func (e *entry) valid(m *manifest) bool {
	switch iceberg.ManifestEntryContent(e.content) {
	case iceberg.EntryContentData:
		if m.content != dataContent {
			return false
		}
	case iceberg.EntryContentPosDeletes, iceberg.EntryContentEqDeletes:
		if m.content != deletesContent {
			return false
		}
	default:
		return false
	}
	return e.path != "" && e.records >= 0 && e.bytes >= 0
}

func (e *entry) readFile(r *avroReader, f avroField, want *wanted) {
	switch f.id {
	case 134:
		e.content = r.integer(f.typ, 0)
	case 100:
		e.path = string(r.text(f.typ))
	case 101:
		format := r.text(f.typ)
		e.puffin = strings.EqualFold(string(format), string(iceberg.PuffinFile))
		if e.details != nil {
			e.details.format = strings.ToUpper(string(format))
		}
	case 103:
		e.records = r.integer(f.typ, -1)
	case 104:
		e.bytes = r.integer(f.typ, -1)
	default:
		want.readDetail(r, f, e.details)
	}
}
