package classify

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Spec is what rows are classified by.
type Spec struct {
	Level   models.Classification // of the table
	Columns map[string]models.ColumnGovernance
	Label   models.Classification // what the caller says of the rows, "" for nothing
	Schema  *arrow.Schema
}

// Result is what the rows of a batch are.
type Result struct {
	Levels     []uint8  // of each row, as models.Classification.Rank
	Tags       []uint32 // of each row: a bit for each of Classifier.TagNames
	Violations []Violation
}

// Violation is why a row may not land as it is. It has no value of the row.
type Violation struct {
	Row     int    // index in the batch
	Column  string // dotted, "" for the row as a whole
	Tag     string
	Level   models.Classification // that the column, or the label, would have to have
	Message string
}

// Classifier classifies batches of one schema. It is for one goroutine at a time.
type Classifier struct {
	spec    Spec
	columns []*column
	tags    []string
	table   uint8 // rank of the table's level
}

// mostTags is the bits of a row's tags. Tags that are over are counted as one, other.
const (
	mostTags = 32
	otherTag = "other"
)

// New makes a Classifier.
func New(s Spec) *Classifier {
	c := &Classifier{spec: s, table: rank(policy.LevelAt(s.Level, nil, ""))}
	named := detectedTags()
	c.tags = named[:]
	for i, f := range s.Schema.Fields() {
		c.addColumns(f, f.Name, []int{i})
	}
	return c
}

// TagNames gives the names of the tags in order of their bits in Result.Tags.
func (c *Classifier) TagNames() []string { return slices.Clone(c.tags) }

// bit gives the bit of a tag, which is added where it is new.
func (c *Classifier) bit(tag string) uint32 {
	at := slices.Index(c.tags, tag)
	if at < 0 && len(c.tags) < mostTags-1 {
		at = len(c.tags)
		c.tags = append(c.tags, tag)
	} else if at < 0 {
		if len(c.tags) < mostTags {
			c.tags = append(c.tags, otherTag)
		}
		at = mostTags - 1
	}
	return 1 << at
}

// Classify classifies the rows of a batch and remembers what its columns look like.
func (c *Classifier) Classify(batch arrow.RecordBatch) *Result {
	n := int(batch.NumRows())
	r := &Result{Levels: make([]uint8, n), Tags: make([]uint32, n)}
	seen := make([]bool, n)
	var base held
	for _, col := range c.columns {
		v := col.values(batch)
		if v.complete() {
			base.add(col)
		} else {
			for i := range n {
				if v.valid(i) {
					seen[i] = true
					r.Levels[i] = max(r.Levels[i], col.level)
					r.Tags[i] |= col.tags
				}
			}
		}
		if col.text {
			c.judge(r, col, col.look(v))
		}
	}
	for i := range n {
		if base.any {
			r.Levels[i] = max(r.Levels[i], base.level)
			r.Tags[i] |= base.tags
		} else if !seen[i] {
			r.Levels[i] = max(r.Levels[i], c.table)
		}
	}
	c.label(r)
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return a.Row - b.Row })
	return r
}

// Observe remembers what the columns of a batch look like, without judging its rows.
func (c *Classifier) Observe(batch arrow.RecordBatch) {
	for _, col := range c.columns {
		if col.text {
			col.look(col.values(batch))
		}
	}
}

// held is what all rows have in common: the columns that are NULL in none.
type held struct {
	any   bool
	level uint8
	tags  uint32
}

func (h *held) add(col *column) {
	h.any, h.level, h.tags = true, max(h.level, col.level), h.tags|col.tags
}

// judge adds what was found in the texts of a column: to the rows' tags, and where it is more sensitive than the column and
// not what governance says of it, to the violations.
func (c *Classifier) judge(r *Result, col *column, findings []foundIn) {
	for _, f := range findings {
		for tag := range eachTag(f.tags) {
			r.Tags[f.row] |= 1 << tag
			if col.own&(1<<tag) != 0 {
				continue
			}
			name := c.tags[tag]
			level := policy.DefaultLevel(name)
			if rank(level) <= col.level {
				continue
			}
			r.Levels[f.row] = max(r.Levels[f.row], rank(level))
			r.Violations = append(r.Violations, Violation{
				Row: f.row, Column: col.path, Tag: name, Level: level,
				Message: fmt.Sprintf("column %s has %s, which is %s, and the column is %s", col.path, described(tag), level, levelOf(col.level)),
			})
		}
	}
}

// label holds the rows against what the caller says of them.
func (c *Classifier) label(r *Result) {
	if c.spec.Label == "" {
		return
	}
	label := rank(c.spec.Label)
	for i, level := range r.Levels {
		if level > label {
			r.Violations = append(r.Violations, Violation{
				Row: i, Level: levelOf(level),
				Message: fmt.Sprintf("labelled %s, but the row is %s", c.spec.Label, levelOf(level)),
			})
		}
		r.Levels[i] = max(level, label)
	}
}

// described says in words what was found.
func described(tag int) string {
	return [detectorCount]string{
		"an e-mail address", "a phone number", "the number of a payment card", "an IBAN", "a national id", "an IP address",
	}[tag]
}

// rank is that of a level, where an unknown one is the highest.
func rank(level models.Classification) uint8 {
	if r := level.Rank(); r >= 0 {
		return uint8(r) //nolint:gosec // 3 at most
	}
	return uint8(models.Restricted.Rank()) //nolint:gosec // 3
}

// levelOf is the level of a rank.
func levelOf(rank uint8) models.Classification {
	return [...]models.Classification{models.Public, models.Internal, models.Confidential, models.Restricted}[min(rank, 3)]
}

// eachTag gives the places of the bits of a set.
func eachTag(s tagSet) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for tag := range detectorCount {
			if s&(1<<tag) != 0 && !yield(tag) {
				return
			}
		}
	}
}
