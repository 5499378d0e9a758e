package dataplane

import (
	"slices"

	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/models"
)

const (
	// logChunk is how many rows a part of the log has at most, so that it grows without being copied.
	logChunk = 1 << 16
	// packedAtOnce is how many rows are put in order of their hashes at a time. A block has a range of hashes: the
	// fewer rows are sorted together, the more blocks a search for one hash opens.
	packedAtOnce = 1 << 18
	// loggedRow is what a row costs, in bytes, in the log and packed.
	loggedRow = 16 + 1 + 4 + 18
)

// rowLog is the audit of rows before they land, in order of arrival.
type rowLog struct {
	parts []logPart
	rows  int64
}

type logPart struct {
	hashes [][16]byte
	levels []uint8  // ranks
	tags   []uint32 // sets, as the classifier numbers tags
}

func (l *rowLog) add(hashes [][16]byte, levels []uint8, tags []uint32) {
	l.rows += int64(len(hashes))
	for len(hashes) > 0 {
		if n := len(l.parts); n == 0 || len(l.parts[n-1].hashes) == logChunk {
			l.parts = append(l.parts, logPart{})
		}
		p := &l.parts[len(l.parts)-1]
		n := min(len(hashes), logChunk-len(p.hashes))
		p.hashes, p.levels, p.tags = append(p.hashes, hashes[:n]...), append(p.levels, levels[:n]...), append(p.tags, tags[:n]...)
		hashes, levels, tags = hashes[n:], levels[n:], tags[n:]
	}
}

// levelsByRank are the levels, each at its rank.
func levelsByRank() []models.Classification {
	return []models.Classification{models.Public, models.Internal, models.Confidential, models.Restricted}
}

// loggedRows says what became of the rows of a log.
type loggedRows struct {
	lost    *rowSet // did not land: others with their keys came after them
	updated *rowSet // landed in the place of rows that were there; by their places among those that landed
}

// tally counts what landed into a write's row.
func (l *rowLog) tally(w *models.GovernedWrite, lost *rowSet, tags []string) {
	levels, tagged := map[models.Classification]int64{}, map[string]int64{}
	all := levelsByRank()
	highest := -1
	l.each(lost, func(p *logPart, i int) {
		levels[all[p.levels[i]]]++
		highest = max(highest, int(p.levels[i]))
		for t, set := 0, p.tags[i]; set != 0; t, set = t+1, set>>1 {
			if set&1 != 0 {
				tagged[tags[t]]++
			}
		}
		w.Rows++
	})
	w.Levels.V, w.Tags.V = levels, tagged
	if highest >= 0 {
		w.Level = all[highest]
	}
}

// each calls fn with the rows that land, in order of arrival.
func (l *rowLog) each(lost *rowSet, fn func(p *logPart, i int)) {
	row := int64(0)
	for at := range l.parts {
		p := &l.parts[at]
		for i := range p.hashes {
			if !lost.has(row) {
				fn(p, i)
			}
			row++
		}
	}
}

// blocks packs the audit of the rows that landed.
func (l *rowLog) blocks(pick loggedRows, tags []string) []models.RowAuditBlock {
	var out []models.RowAuditBlock
	names := tagSets{tags: tags, known: map[uint32][]string{}}
	all := levelsByRank()
	records := make([]rowaudit.Record, 0, min(packedAtOnce, l.rows))
	landed := int64(0)
	l.each(pick.lost, func(p *logPart, i int) {
		records = append(records, rowaudit.Record{
			Hash: p.hashes[i], Level: all[p.levels[i]], Tags: names.of(p.tags[i]), Updated: pick.updated.has(landed),
		})
		landed++
		if len(records) == packedAtOnce {
			out, records = append(out, rowaudit.Pack(records)...), records[:0]
		}
	})
	return append(out, rowaudit.Pack(records)...)
}

// placed numbers blocks and says whose they are.
func placed(blocks []models.RowAuditBlock, writeID, tableID string) []models.RowAuditBlock {
	for i := range blocks {
		blocks[i].WriteID, blocks[i].TableID, blocks[i].Place = writeID, tableID, i
	}
	return blocks
}

// tagSets names the tags of sets, each set once.
type tagSets struct {
	tags  []string
	known map[uint32][]string
}

func (t *tagSets) of(set uint32) []string {
	if set == 0 {
		return nil
	}
	names, ok := t.known[set]
	if !ok {
		for i, name := range t.tags {
			if set&(1<<i) != 0 {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		t.known[set] = names
	}
	return names
}

// rowSet is a set of rows by their places. A nil set is empty.
type rowSet struct {
	words []uint64
	count int64
}

func (s *rowSet) add(row int64) {
	word := int(row >> 6)
	for len(s.words) <= word {
		s.words = append(s.words, 0)
	}
	if bit := uint64(1) << (row & 63); s.words[word]&bit == 0 {
		s.words[word] |= bit
		s.count++
	}
}

func (s *rowSet) has(row int64) bool {
	if s == nil {
		return false
	}
	word := int(row >> 6)
	return word < len(s.words) && s.words[word]&(1<<(row&63)) != 0
}

func (s *rowSet) len() int64 {
	if s == nil {
		return 0
	}
	return s.count
}
