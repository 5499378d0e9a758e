package reconcile

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apache/iceberg-go"
)

// The contents of a manifest, as the list has them.
const (
	dataContent    = int64(iceberg.ManifestContentData)
	deletesContent = int64(iceberg.ManifestContentDeletes)
)

// mostSummaries is the most partition fields that a list may describe.
const mostSummaries = 10_000

// perManifest is about what a manifest holds in memory, without its texts, in bytes.
const perManifest = 256

// manifest is a manifest as a manifest list describes it. Counts may be unknown or negative, as natural gives them; the
// snapshot and the first row id may be unknown.
type manifest struct {
	version                                        int
	path                                           string
	length, spec, snapshot, content, sequence, low int64    // low: the lowest data sequence number of live files
	files, rows                                    [3]int64 // added, existing, deleted
	firstRow                                       int64
	key                                            []byte
	partitions                                     []iceberg.FieldSummary
	bare                                           bool // a path in an old v1 snapshot: nothing else is known
}

// noCounts are counts that are not known.
func noCounts() [3]int64 { return [3]int64{unknown, unknown, unknown} }

// miscounts tells whether a count is negative: engines differ on whether the manifest then has files.
func (m *manifest) miscounts() bool {
	return slices.Contains(m.files[:], negative) || slices.Contains(m.rows[:], negative)
}

// mayLive tells whether readers may look for live files in it.
func (m *manifest) mayLive() bool { return m.files[0] != 0 || m.files[1] != 0 }

// file gives the manifest as iceberg-go wants it for reading.
func (m *manifest) file() iceberg.ManifestFile {
	b := iceberg.NewManifestFile(m.version, m.path, m.length, int32(m.spec), m.snapshot).
		Content(iceberg.ManifestContent(m.content)).SequenceNum(m.sequence, m.low).
		AddedFiles(int32(m.files[0])).ExistingFiles(int32(m.files[1])).DeletedFiles(int32(m.files[2])).
		AddedRows(m.rows[0]).ExistingRows(m.rows[1]).DeletedRows(m.rows[2])
	if m.firstRow < 0 {
		return b.Build()
	}
	return rowed{b.Build(), &m.firstRow}
}

// rowed has the first row id, which iceberg-go has no builder for.
type rowed struct {
	iceberg.ManifestFile
	firstRow *int64
}

// FirstRowID is the first row id that the list assigns to the manifest.
func (r rowed) FirstRowID() *int64 { return r.firstRow }

// decodeList reads a manifest list; size estimates the bytes that the result holds. It does not use iceberg-go, which
// compiles the schema of every file anew: an append is verified while its writer waits, and this takes a fraction of the
// time, and no more memory than what it gives.
// Fields are found as engines find them, by id.
func (s *schemaCache) decodeList(raw []byte) (out []manifest, size int, err error) {
	c, err := openContainer(raw)
	if err != nil {
		return nil, 0, err
	}
	schema, err := s.get("list", c.meta["avro.schema"], listNames)
	if err != nil {
		return nil, 0, err
	}
	version, err := listVersion(schema, c.meta["format-version"])
	if err != nil {
		return nil, 0, err
	}
	_, err = c.eachBlock(func(count int64, r *avroReader) error {
		for ; count > 0 && !r.bad; count-- {
			start := r.at()
			m := readManifest(r, schema, version)
			if size += m.size(); size > maxListed || r.at()-start > maxRecord {
				return fmt.Errorf("%w: it lists too much", errDecode)
			}
			out = append(out, m)
		}
		return nil
	})
	return out, size, err
}

// size is about what the manifest holds in memory, in bytes.
func (m *manifest) size() int {
	const perSummary, perBound = 40, 24
	n := perManifest + len(m.path) + len(m.key) + perSummary*len(m.partitions)
	for _, s := range m.partitions {
		for _, b := range []*[]byte{s.LowerBound, s.UpperBound} {
			if b != nil {
				n += perBound + len(*b)
			}
		}
	}
	return n
}

// listVersion takes the version from the header, or from the fields there are. A header may not claim less than the
// fields show: readers would not see them.
func listVersion(schema *avroType, header []byte) (int, error) {
	version := 1
	for _, f := range schema.fields {
		switch f.id {
		case 520:
			version = 3
		case 515, 517:
			version = max(version, 2)
		}
	}
	if len(header) == 0 {
		return version, nil
	}
	stated, err := strconv.Atoi(string(header))
	if err != nil || stated < version || stated > 3 {
		return 0, fmt.Errorf("%w: format-version %q", errDecode, header)
	}
	return stated, nil
}

func readManifest(r *avroReader, schema *avroType, version int) manifest {
	m := manifest{version: version, snapshot: unknown, files: noCounts(), rows: noCounts(), firstRow: unknown}
	r.record(schema, func(f avroField) { m.read(r, f) })
	if m.path == "" || m.content != dataContent && m.content != deletesContent {
		r.fail()
	}
	return m
}

func (m *manifest) read(r *avroReader, f avroField) {
	switch f.id {
	case 500:
		m.path = string(r.text(f.typ))
	case 501:
		m.length = r.integer(f.typ, 0)
	case 502:
		m.spec = r.small(f.typ, 0)
	case 503:
		m.snapshot = r.snapshot(f.typ, unknown)
	case 504, 505, 506:
		if m.files[f.id-504] = r.natural(f.typ); m.files[f.id-504] > math.MaxInt32 {
			r.fail()
		}
	case 507:
		m.partitions = readSummaries(r, f.typ)
	case 512, 513, 514:
		m.rows[f.id-512] = r.natural(f.typ)
	case 515:
		m.sequence = r.integer(f.typ, 0)
	case 516:
		m.low = r.integer(f.typ, 0)
	case 517:
		m.content = r.integer(f.typ, 0)
	case 519:
		m.key = bytes.Clone(r.text(f.typ))
	case 520:
		m.firstRow = r.integer(f.typ, -1)
	default:
		r.skip(f.typ)
	}
}

// readSummaries reads the partition ranges; nil when there are none.
func readSummaries(r *avroReader, t *avroType) []iceberg.FieldSummary {
	if t = r.resolve(t); t.kind == "null" {
		return nil
	}
	if t.kind != "array" {
		r.fail()
		return nil
	}
	var out []iceberg.FieldSummary
	r.items(func() {
		if len(out) == mostSummaries {
			r.fail()
			return
		}
		var s iceberg.FieldSummary
		r.record(t.of[0], func(f avroField) {
			switch f.id {
			case 509:
				s.ContainsNull = valueOr(r.boolean(f.typ), false)
			case 518:
				s.ContainsNaN = r.boolean(f.typ)
			case 510:
				s.LowerBound = bound(r.text(f.typ))
			case 511:
				s.UpperBound = bound(r.text(f.typ))
			default:
				r.skip(f.typ)
			}
		})
		out = append(out, s)
	})
	return out
}

// bound copies: the list's memory is not to be kept for it.
func bound(b []byte) *[]byte {
	if b == nil {
		return nil
	}
	own := append(make([]byte, 0, len(b)), b...)
	return &own
}
