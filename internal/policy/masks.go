package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// The masks, as models.ParseMask reads them. What each does to a value is internal/masking's.
const (
	MaskNull     = "null"
	MaskRedact   = "redact"
	MaskPartial  = "partial"
	MaskHash     = "hash"
	MaskTruncate = "truncate"
)

// The tags that have meaning: a default mask, and detectors that find such values.
const (
	TagEmail      = "email"
	TagPhone      = "phone"
	TagPAN        = "pan" // the number of a payment card
	TagIBAN       = "iban"
	TagIP         = "ip"
	TagNationalID = "national_id"
	TagName       = "name" // of a person; nothing detects it
)

// Mask is what a caller sees of a column instead of its values.
type Mask struct {
	Kind  string                // one of the Mask constants
	Tag   string                // of the column in lower case, "" for none: some masks depend on it
	Level models.Classification // why: what the caller's clearance does not reach
}

// DefaultMask is the mask of a column for which governance names none. Case does not count.
func DefaultMask(tag string) string {
	switch strings.ToLower(tag) {
	case TagEmail, TagPhone, TagPAN, TagIBAN:
		return MaskPartial
	case TagIP:
		return MaskTruncate
	case TagNationalID:
		return MaskHash
	}
	return MaskRedact
}

// DefaultLevel is how sensitive values of a tag are where nobody said anything else, "" for a tag without meaning. Case does
// not count.
func DefaultLevel(tag string) models.Classification {
	switch strings.ToLower(tag) {
	case TagPAN, TagIBAN, TagNationalID:
		return models.Restricted
	case TagEmail, TagPhone, TagName:
		return models.Confidential
	case TagIP:
		return models.Internal
	}
	return ""
}

// MasksFor gives the masks of the columns that a clearance does not reach, by their dotted names in the schema:
//
//   - A column has the sensitivity that governance gives it, one that is nested in a struct that of the nearest struct around
//     it that has one, where that is higher; else the table's level. An unknown level is restricted.
//   - A struct is masked as a whole where governance says so of itself, or where all in it is masked; else only what in it is.
//   - What is in a list or a map cannot be masked alone: it masks the whole top-level column, with null.
//
// The names of what is nested in a masked column are left out; MaskOf finds them.
func MasksFor(clearance models.Classification, t models.Table, schema metadata.Schema) map[string]Mask {
	m := maskers{clearance: clearance, columns: t.Columns.V, out: map[string]Mask{}}
	for _, f := range schema.Fields {
		if level, ok := m.inList(f, nil, false); ok {
			m.out[f.Path] = Mask{Kind: MaskNull, Level: level}
			continue
		}
		m.field(f, reach{level: known(t.Classification)})
	}
	return m.out
}

// MaskOf gives the mask of a column, which may be that of a struct that it is nested in.
func MaskOf(masks map[string]Mask, path string) (Mask, bool) {
	for {
		if m, ok := masks[path]; ok {
			return m, true
		}
		cut := strings.LastIndexByte(path, '.')
		if cut < 0 {
			return Mask{}, false
		}
		path = path[:cut]
	}
}

// Levels gives the level of every column of a schema that is no struct, and of every struct that governance names, by its
// dotted name. What is in a list or a map counts for the column that it is in.
func Levels(t models.Table, schema metadata.Schema) map[string]models.Classification {
	out := map[string]models.Classification{}
	m := maskers{columns: t.Columns.V}
	var walk func(metadata.Field, reach)
	walk = func(f metadata.Field, above reach) {
		own := m.reach(f.Path, above)
		if f.Type != structType {
			if level, ok := m.inList(f, &own.level, false); ok {
				own.level = level
			}
		}
		if f.Type != structType || m.columns[f.Path].Sensitivity != "" {
			out[f.Path] = own.level
		}
		if f.Type == structType {
			for _, child := range f.Children {
				walk(child, own)
			}
		}
	}
	for _, f := range schema.Fields {
		walk(f, reach{level: known(t.Classification)})
	}
	return out
}

// structType is what metadata.Field.Type is of a struct.
const structType = "struct"

type maskers struct {
	clearance models.Classification
	columns   map[string]models.ColumnGovernance
	out       map[string]Mask
}

// reach is the level that holds where a column is.
type reach struct {
	level models.Classification
	said  bool // of a column around it, not of the table
}

// reach is the level of a column within another.
func (m maskers) reach(path string, above reach) reach {
	own := m.columns[path].Sensitivity
	if own == "" {
		return above
	}
	own = known(own)
	if above.said && above.level.Rank() > own.Rank() {
		own = above.level
	}
	return reach{level: own, said: true}
}

// field masks a column or what in it is to be masked, and tells whether all of it is.
func (m maskers) field(f metadata.Field, above reach) bool {
	own := m.reach(f.Path, above)
	hidden := !cleared(m.clearance, own.level)
	if f.Type != structType || hidden && m.columns[f.Path].Sensitivity != "" {
		if hidden {
			m.out[f.Path] = m.maskOf(f.Path, own.level)
		}
		return hidden
	}
	whole := len(f.Children) > 0 || hidden
	for _, child := range f.Children {
		whole = m.field(child, own) && whole
	}
	if !whole {
		return false
	}
	if !hidden {
		own.level = m.highest(f) // all its children are hidden, each by what is said of itself
	}
	maps.DeleteFunc(m.out, func(path string, _ Mask) bool { return strings.HasPrefix(path, f.Path+".") })
	m.out[f.Path] = m.maskOf(f.Path, own.level)
	return true
}

// highest is the highest level of the masks within a column.
func (m maskers) highest(f metadata.Field) models.Classification {
	level := models.Public
	for _, path := range slices.Sorted(maps.Keys(m.out)) {
		if l := m.out[path].Level; strings.HasPrefix(path, f.Path+".") && l.Rank() > level.Rank() {
			level = l
		}
	}
	return level
}

// inList finds the highest level of what governance names in the lists and maps of a column, where the clearance does not
// reach it, or with at, where it is above that.
func (m maskers) inList(f metadata.Field, at *models.Classification, inside bool) (level models.Classification, found bool) {
	for _, child := range f.Children {
		within := inside || f.Type != structType
		if own := m.columns[child.Path].Sensitivity; within && own != "" {
			own = known(own)
			above := !cleared(m.clearance, own)
			if at != nil {
				above = own.Rank() > at.Rank()
			}
			if above && (!found || own.Rank() > level.Rank()) {
				level, found = own, true
			}
		}
		if l, ok := m.inList(child, at, within); ok && (!found || l.Rank() > level.Rank()) {
			level, found = l, true
		}
	}
	return level, found
}

func (m maskers) maskOf(path string, level models.Classification) Mask {
	g := m.columns[path]
	kind := g.Mask
	switch kind {
	case MaskNull, MaskRedact, MaskPartial, MaskHash, MaskTruncate:
	case "":
		kind = DefaultMask(g.Tag)
	default:
		kind = MaskNull
	}
	return Mask{Kind: kind, Tag: strings.ToLower(g.Tag), Level: level}
}

func known(level models.Classification) models.Classification {
	if level.Rank() < 0 {
		return models.Restricted
	}
	return level
}
