package metadata

import (
	"slices"
	"sort"
	"strconv"
)

// ColumnChangeKind is what happened to a column.
type ColumnChangeKind string

// The kinds of column changes. A column that several things happened to has several changes.
const (
	ColumnAddOptional  ColumnChangeKind = "add_optional"
	ColumnAddRequired  ColumnChangeKind = "add_required" // with a default or without
	ColumnDrop         ColumnChangeKind = "drop"
	ColumnRename       ColumnChangeKind = "rename"
	ColumnRetype       ColumnChangeKind = "retype"
	ColumnMakeOptional ColumnChangeKind = "make_optional"
	ColumnMakeRequired ColumnChangeKind = "make_required"
	ColumnDoc          ColumnChangeKind = "doc"
	ColumnReorder      ColumnChangeKind = "reorder"    // another place among its siblings
	ColumnMove         ColumnChangeKind = "move"       // another parent
	ColumnIdentifier   ColumnChangeKind = "identifier" // became or ceased to be an identifier field
	ColumnDefault      ColumnChangeKind = "default"
	ColumnOther        ColumnChangeKind = "other" // a member the server does not know
)

// ColumnChange is one difference between two schemas.
type ColumnChange struct {
	Kind    ColumnChangeKind
	FieldID int
	Name    string // full dotted name before the change, or after it for additions
	Detail  string // for people: "int to long"
}

// placed is a field with its place in the schema. Parent 0 with depth 0 is the top level.
type placed struct {
	field  *Field
	parent int
	top    bool
}

// DiffSchemas compares by field id, at all levels. A dropped struct reports its nested fields too,
// because they can be governed by themselves; an added one reports only itself. The order is that of
// before, then additions in the order of after.
func DiffSchemas(before, after Schema) []ColumnChange {
	old, oldOrder := placeFields(before)
	now, newOrder := placeFields(after)
	moved := reordered(old, now, oldOrder, newOrder)
	wasKeys, isKeys := idSet(before.IdentifierFieldIDs), idSet(after.IdentifierFieldIDs)
	var changes []ColumnChange
	for _, id := range oldOrder {
		was := old[id]
		is, ok := now[id]
		if !ok {
			changes = append(changes, ColumnChange{Kind: ColumnDrop, FieldID: id, Name: was.field.Path})
			continue
		}
		changes = append(changes, diffField(was, is)...)
		if moved[id] {
			changes = append(changes, ColumnChange{Kind: ColumnReorder, FieldID: id, Name: was.field.Path})
		}
		if wasKeys[id] != isKeys[id] {
			changes = append(changes, identifierChange(id, was.field.Path, isKeys[id]))
		}
	}
	for _, id := range newOrder {
		is := now[id]
		if _, known := old[id]; known {
			continue
		}
		if _, parentKnown := old[is.parent]; is.top || parentKnown {
			changes = append(changes, addition(is.field))
		}
		if isKeys[id] {
			changes = append(changes, identifierChange(id, is.field.Path, true))
		}
	}
	return changes
}

func idSet(ids []int) map[int]bool {
	set := make(map[int]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func addition(f *Field) ColumnChange {
	change := ColumnChange{Kind: ColumnAddOptional, FieldID: f.ID, Name: f.Path, Detail: f.Type}
	if f.Required {
		change.Kind = ColumnAddRequired
	}
	return change
}

func identifierChange(id int, name string, added bool) ColumnChange {
	detail := "removed"
	if added {
		detail = "added"
	}
	return ColumnChange{Kind: ColumnIdentifier, FieldID: id, Name: name, Detail: detail}
}

func placeFields(s Schema) (map[int]placed, []int) {
	at := make(map[int]placed)
	var order []int
	var place func(fields []Field, parent int, top bool)
	place = func(fields []Field, parent int, top bool) {
		for i := range fields {
			f := &fields[i]
			if _, twice := at[f.ID]; !twice {
				at[f.ID] = placed{field: f, parent: parent, top: top}
				order = append(order, f.ID)
			}
			place(f.Children, f.ID, false)
		}
	}
	place(s.Fields, 0, true)
	return at, order
}

func diffField(was, is placed) []ColumnChange {
	var changes []ColumnChange
	add := func(kind ColumnChangeKind, detail string) {
		changes = append(changes, ColumnChange{Kind: kind, FieldID: was.field.ID, Name: was.field.Path, Detail: detail})
	}
	if was.top != is.top || was.parent != is.parent {
		add(ColumnMove, was.field.Path+" to "+is.field.Path)
	}
	if was.field.Name != is.field.Name {
		add(ColumnRename, was.field.Name+" to "+is.field.Name)
	}
	if was.field.Type != is.field.Type {
		add(ColumnRetype, was.field.Type+" to "+is.field.Type)
	}
	if was.field.Required && !is.field.Required {
		add(ColumnMakeOptional, "")
	}
	if !was.field.Required && is.field.Required {
		add(ColumnMakeRequired, "")
	}
	if was.field.Doc != is.field.Doc {
		add(ColumnDoc, strconv.Quote(was.field.Doc)+" to "+strconv.Quote(is.field.Doc))
	}
	if !isFieldObject(was.field) || !isFieldObject(is.field) {
		return changes
	}
	for _, name := range []string{"initial-default", "write-default"} {
		if a, b := memberOf(was.field.Raw, name), memberOf(is.field.Raw, name); !sameJSON(a, b) {
			add(ColumnDefault, name+" "+orDefault(string(a), "null")+" to "+orDefault(string(b), "null"))
		}
	}
	if !sameJSON(unknownMembers(was.field), unknownMembers(is.field)) {
		add(ColumnOther, "")
	}
	return changes
}

// unknownMembers gives the members of a field that have no kind of change of their own.
func unknownMembers(f *Field) []byte {
	members, _ := membersOf(f.Raw)
	return joinMembers(slices.DeleteFunc(members, func(m member) bool {
		switch m.key {
		case "id", "name", "required", "type", "doc", "initial-default", "write-default":
			return true
		}
		return false
	}))
}

// reordered gives the fields that changed their place among the siblings they had before: the
// smallest set whose removal leaves the others in their order.
func reordered(old, now map[int]placed, oldOrder, newOrder []int) map[int]bool {
	rank := make(map[int]int, len(oldOrder))
	for i, id := range oldOrder {
		rank[id] = i
	}
	type family struct {
		parent int
		top    bool
	}
	siblings := make(map[family][]int)
	for _, id := range newOrder {
		was, ok := old[id]
		if is := now[id]; ok && was.parent == is.parent && was.top == is.top {
			key := family{is.parent, is.top}
			siblings[key] = append(siblings[key], id)
		}
	}
	moved := make(map[int]bool)
	for _, ids := range siblings {
		kept := longestRising(ids, rank)
		for _, id := range ids {
			if !kept[id] {
				moved[id] = true
			}
		}
	}
	return moved
}

// longestRising gives a longest subsequence of ids whose ranks rise.
func longestRising(ids []int, rank map[int]int) map[int]bool {
	previous := make([]int, len(ids))
	var ends []int // ends[n] is the index in ids of the smallest end of a rising run of length n+1
	for i, id := range ids {
		n := sort.Search(len(ends), func(j int) bool { return rank[ids[ends[j]]] >= rank[id] })
		previous[i] = -1
		if n > 0 {
			previous[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	kept := make(map[int]bool, len(ends))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = previous[i] {
			kept[ids[i]] = true
		}
	}
	return kept
}
