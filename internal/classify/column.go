package classify

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/policy"
)

// column is a column that is no struct, or one in structs.
type column struct {
	path  string
	at    []int // places from the batch down
	level uint8
	tags  uint32 // that governance gives it
	own   tagSet // those of them that are detected
	said  bool   // governance says something of it
	text  bool

	looked  int64                // values so far
	matches [detectorCount]int64 // of them, those that are one as a whole
}

// addColumns adds a field, of a struct what is in it.
func (c *Classifier) addColumns(f arrow.Field, path string, at []int) {
	if of, ok := f.Type.(*arrow.StructType); ok {
		for i, child := range of.Fields() {
			c.addColumns(child, path+"."+child.Name, append(append([]int{}, at...), i))
		}
		return
	}
	governed := c.spec.Columns
	col := &column{path: path, at: at, level: rank(policy.LevelAt(c.spec.Level, governed, path)), text: f.Type.ID() == arrow.STRING}
	tags := policy.TagsAt(governed, path)
	for name, g := range governed {
		switch {
		case strings.HasPrefix(name, path+"."): // in a list or a map
			if g.Sensitivity != "" {
				col.level = max(col.level, rank(g.Sensitivity))
			}
			tags = append(tags, policy.TagsAt(governed, name)...)
			col.said = col.said || !isZero(g)
		case name == path || strings.HasPrefix(path, name+"."):
			col.said = col.said || !isZero(g)
		}
	}
	for _, tag := range tags {
		bit := c.bit(tag)
		col.tags |= bit
		col.own |= tagSet(bit) //nolint:gosec // the lowest bits are those of what is detected
	}
	c.columns = append(c.columns, col)
}

// values is a column in a batch.
type values struct {
	array   arrow.Array
	parents []arrow.Array // the structs around it that are NULL somewhere
}

func (col *column) values(batch arrow.RecordBatch) values {
	var v values
	v.array = batch.Column(col.at[0])
	for _, child := range col.at[1:] {
		of, ok := v.array.(*array.Struct)
		if !ok {
			return v
		}
		if of.NullN() > 0 {
			v.parents = append(v.parents, of)
		}
		v.array = of.Field(child)
	}
	return v
}

// complete tells whether it is NULL nowhere.
func (v values) complete() bool { return len(v.parents) == 0 && v.array.NullN() == 0 }

func (v values) valid(i int) bool {
	for _, p := range v.parents {
		if p.IsNull(i) {
			return false
		}
	}
	return v.array.IsValid(i)
}

// foundIn is what counts in a row.
type foundIn struct {
	row  int
	tags tagSet
}

// look finds what the texts of a column have in them.
func (col *column) look(v values) []foundIn {
	texts, ok := v.array.(*array.String)
	if !ok {
		return nil
	}
	present := int64(texts.Len())
	if !v.complete() {
		present = 0
		for i := range texts.Len() {
			if v.valid(i) {
				present++
			}
		}
	}
	col.looked += present
	if !marked(texts) {
		return nil
	}
	var out, weak []foundIn
	var passed [detectorCount]int64
	for i := range texts.Len() {
		if !v.valid(i) {
			continue
		}
		f := detect(texts.Value(i))
		if f.strong|f.weak == 0 {
			continue
		}
		for tag := range eachTag(f.whole) {
			col.matches[tag]++
		}
		if f.strong != 0 {
			out = append(out, foundIn{i, f.strong})
		}
		for tag := range eachTag(f.strong | f.weak) {
			passed[tag]++
		}
		if f.weak != 0 {
			weak = append(weak, foundIn{i, f.weak})
		}
	}
	full := counts(passed, present)
	for _, f := range weak {
		if f.tags &= full; f.tags != 0 {
			out = append(out, f)
		}
	}
	return out
}

// From how many values on, and from what share of them on (percent), weak findings count.
const (
	leastValues  = 20
	weakShare    = 60
	barePhones   = 90 // two of three numbers of ten digits look like those of phones
	suggestShare = 80
)

// counts gives the tags of which a column is full: its bare numbers are what they look like.
func counts(passed [detectorCount]int64, present int64) tagSet {
	var full tagSet
	if present < leastValues {
		return full
	}
	for tag, n := range passed {
		share := int64(weakShare)
		if tagSet(1<<tag) == phone {
			share = barePhones
		}
		if n*100 >= share*present {
			full |= 1 << tag
		}
	}
	return full
}

// marked tells whether a column of texts has a byte in it that a detector starts from.
func marked(texts *array.String) bool {
	all := texts.ValueBytes()
	if len(all) == 0 {
		return false
	}
	return nextMark(all, 0) < len(all)
}
