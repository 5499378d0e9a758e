package metadata

import (
	"slices"
	"strconv"
)

// layoutIndex finds equal schemas, specs or sort orders by a text that is equal for these. Ids are those that are left.
type layoutIndex struct {
	ids map[string][]int // in the order of the list: of several the first counts
	key map[int]string
}

func newLayoutIndex(size int) *layoutIndex {
	return &layoutIndex{ids: make(map[string][]int, size), key: make(map[int]string, size)}
}

func (x *layoutIndex) add(key string, id int) {
	x.ids[key] = append(x.ids[key], id)
	x.key[id] = key
}

func (x *layoutIndex) find(key string) (int, bool) {
	if ids := x.ids[key]; len(ids) > 0 {
		return ids[0], true
	}
	return 0, false
}

func (x *layoutIndex) remove(id int) {
	if key, ok := x.key[id]; ok {
		x.ids[key] = slices.DeleteFunc(x.ids[key], func(other int) bool { return other == id })
		delete(x.key, id)
	}
}

// specKey is equal for specs that engines take for one another: order, sources, transforms and names.
func specKey(fields []transformField) string {
	var key []byte
	for i := range fields {
		key = strconv.AppendQuote(fields[i].appendSource(key), fields[i].name)
	}
	return string(key)
}

// orderKey is equal for equal sort orders.
func orderKey(fields []transformField) string {
	var key []byte
	for i := range fields {
		key = strconv.AppendQuote(fields[i].appendSource(key), fields[i].direction)
		key = strconv.AppendQuote(key, fields[i].nullOrder)
	}
	return string(key)
}

func (f *transformField) appendSource(key []byte) []byte {
	key = strconv.AppendQuote(append(key, ';'), f.transform)
	for _, source := range f.sources {
		key = append(strconv.AppendInt(key, int64(source), 10), ',')
	}
	return key
}

// partitionUses tells which partition field ids the specs of a table use for what.
type partitionUses struct {
	fields map[int][]transformField     // by spec id
	byKey  map[string]map[int]int       // field key to its ids, with the number of specs that use it so
	byID   map[int]map[string]*fieldUse // field id to the keys it is used for
}

// fieldUse is what one id is used for.
type fieldUse struct {
	field transformField
	spec  int // the first that did
	count int
}

func newPartitionUses() *partitionUses {
	return &partitionUses{
		fields: make(map[int][]transformField), byKey: make(map[string]map[int]int), byID: make(map[int]map[string]*fieldUse),
	}
}

func (u *partitionUses) add(spec int, fields []transformField) {
	u.fields[spec] = append(u.fields[spec], fields...)
	for _, f := range fields {
		key := f.key()
		if u.byKey[key] == nil {
			u.byKey[key] = make(map[int]int)
		}
		u.byKey[key][f.id]++
		if u.byID[f.id] == nil {
			u.byID[f.id] = make(map[string]*fieldUse)
		}
		if use := u.byID[f.id][key]; use != nil {
			use.count++
		} else {
			u.byID[f.id][key] = &fieldUse{field: f, spec: spec, count: 1}
		}
	}
}

func (u *partitionUses) remove(spec int) {
	for _, f := range u.fields[spec] {
		key := f.key()
		if u.byKey[key][f.id]--; u.byKey[key][f.id] == 0 {
			delete(u.byKey[key], f.id)
		}
		if use := u.byID[f.id][key]; use != nil {
			if use.count--; use.count == 0 {
				delete(u.byID[f.id], key)
			}
		}
	}
	delete(u.fields, spec)
}

// idOf gives the highest id that specs use for a field of the key; 0 when none does.
func (u *partitionUses) idOf(key string) int {
	highest := 0
	for id := range u.byKey[key] {
		highest = max(highest, id)
	}
	return highest
}

// conflict gives a spec that uses the field's id for something else. Void stands for any transform of its source.
func (u *partitionUses) conflict(f transformField) (spec int, found bool) {
	for _, use := range u.byID[f.id] {
		o := use.field
		same := slices.Equal(o.sources, f.sources) && (o.transform == f.transform || o.transform == "void" || f.transform == "void")
		if !same {
			return use.spec, true
		}
	}
	return 0, false
}
