package metadata

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	sqlRepresentation  = "sql"
	firstViewVersionID = 1

	// highestViewVersionWish leaves room to count on from whatever id a client chose.
	highestViewVersionWish = math.MaxInt32 / 2

	historyProperty    = "version.history.num-entries"
	defaultHistory     = 10
	dropDialectAllowed = "replace.drop-dialect.allowed"
)

// addVersion adds a version or finds an equal one again: the id and the time do not count. The id in raw is a wish
// that is granted when it is above all others.
func (b *viewBuilder) addVersion(raw json.RawMessage) error {
	v, err := newViewVersion(raw)
	if err != nil {
		return err
	}
	if v.SchemaID == lastAdded {
		if b.lastSchema == nil {
			return fault.New(fault.Invalid, "Cannot set last added schema: no schema has been added")
		}
		v.SchemaID = *b.lastSchema
	}
	if _, ok := findListed(b.schemas, v.SchemaID); !ok {
		return fault.New(fault.Invalid, "Cannot add version with unknown schema: %d", v.SchemaID)
	}
	b.indexVersions()
	key := viewVersionKey(v)
	if known, ok := b.versionIndex.find(key); ok {
		b.lastVersion = &known
		return nil
	}
	id := v.ID
	for _, other := range b.versions {
		id = max(id, other.ID+1)
	}
	if id < firstViewVersionID || id > math.MaxInt32 || v.ID > highestViewVersionWish {
		return fault.New(fault.Invalid, "Invalid view version: version-id %d is out of range", v.ID)
	}
	v.ID = id
	v.Raw = numberedVersion(v)
	b.versions = append(b.versions, v)
	b.lastVersion = &id
	b.versionIndex.add(key, id)
	b.changes.AddedVersions = append(b.changes.AddedVersions, id)
	b.dirty["versions"] = true
	return nil
}

// numberedVersion writes a version's ids into its JSON.
func numberedVersion(v ViewVersion) json.RawMessage {
	members, _ := membersOf(v.Raw)
	members = withMember(members, "version-id", integerOf(v.ID))
	return joinMembers(withMember(members, "schema-id", integerOf(v.SchemaID)))
}

// viewVersionKey is equal for versions that differ in nothing but id and time.
func viewVersionKey(v ViewVersion) string {
	members, _ := membersOf(v.Raw)
	content := joinMembers(slices.DeleteFunc(members, func(m member) bool {
		return m.key == "version-id" || m.key == "timestamp-ms" || m.key == "schema-id"
	}))
	return string(appendCanonical(strconv.AppendInt(nil, int64(v.SchemaID), 10), content))
}

// indexVersions prepares the search for an equal version.
func (b *viewBuilder) indexVersions() {
	if b.versionIndex != nil {
		return
	}
	b.versionIndex = newLayoutIndex(len(b.versions))
	for _, v := range b.versions {
		b.versionIndex.add(viewVersionKey(v), v.ID)
	}
}

// newViewVersion reads a version as strictly as engines read what they find in a document. The error is Invalid.
func newViewVersion(raw json.RawMessage) (ViewVersion, error) {
	v, bad := readViewVersion(raw)
	_, isList := stringsOf(memberOf(raw, "default-namespace"))
	catalog := memberOf(raw, "default-catalog")
	switch {
	case bad != "":
	case !isStringMap(memberOf(raw, "summary")):
		bad = "summary"
	case !isList:
		bad = "default-namespace"
	case catalog != nil && !isString(catalog):
		bad = "default-catalog"
	case len(v.Representations) == 0:
		bad = "representations"
	}
	if bad != "" {
		return v, fault.New(fault.Invalid, "Invalid view version: missing or invalid field %s", bad)
	}
	return v, checkRepresentations(v)
}

func isStringMap(raw json.RawMessage) bool {
	all := true
	return eachMember(raw, func(_, value []byte) { all = all && isString(value) }) && all
}

// checkRepresentations wants one query for each dialect: an engine would not know which to take.
func checkRepresentations(v ViewVersion) error {
	seen := map[string]bool{}
	for _, p := range v.Representations {
		if p.Type == "" {
			return fault.New(fault.Invalid, "Invalid view version: a representation has no type")
		}
		if p.Type != sqlRepresentation {
			continue
		}
		if strings.TrimSpace(p.SQL) == "" || strings.TrimSpace(p.Dialect) == "" {
			return fault.New(fault.Invalid, "Invalid view version: a representation of type sql needs sql and dialect")
		}
		dialect := normalDialect(p.Dialect)
		if seen[dialect] {
			return fault.About(fault.Invalid, fault.Argument, "Invalid view version: Cannot add multiple queries for dialect %s", dialect)
		}
		seen[dialect] = true
	}
	return nil
}

func normalDialect(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

func (b *viewBuilder) setCurrentVersion(id int) error {
	if id == lastAdded {
		if b.lastVersion == nil {
			return fault.New(fault.Invalid, "Cannot set last version id: no current version id has been set")
		}
		id = *b.lastVersion
	}
	if b.hasCurrent && id == b.current {
		return nil
	}
	v, ok := findVersion(b.versions, id)
	if !ok {
		return fault.New(fault.Invalid, "Cannot set current version to unknown version: %d", id)
	}
	b.current, b.hasCurrent = id, true
	b.dirty["current-version-id"] = true
	b.became = b.now
	if slices.Contains(b.changes.AddedVersions, id) {
		b.became = v.TimestampMs
	}
	return nil
}

// checkDialects keeps a replacement from taking a view away from the engines of a dialect, unless the view allows it.
func (b *viewBuilder) checkDialects() error {
	if b.base == nil || strings.EqualFold(b.property(dropDialectAllowed), "true") {
		return nil
	}
	now, _ := findVersion(b.versions, b.current)
	before, after := dialectsOf(b.base.CurrentVersion()), dialectsOf(now)
	for _, dialect := range before {
		if !slices.Contains(after, dialect) {
			return fault.New(fault.Invalid, "Cannot replace view due to loss of view dialects (%s=false). Previous dialects: %s. New dialects: %s",
				dropDialectAllowed, strings.Join(before, ", "), strings.Join(after, ", "))
		}
	}
	return nil
}

func dialectsOf(v ViewVersion) []string {
	var dialects []string
	for _, p := range v.Representations {
		if p.Type == sqlRepresentation {
			dialects = append(dialects, normalDialect(p.Dialect))
		}
	}
	slices.Sort(dialects)
	return slices.Compact(dialects)
}

// trimHistory drops the oldest versions beyond what the view wants kept. The current one and those of this commit stay.
func (b *viewBuilder) trimHistory() error {
	keep := defaultHistory
	if text := b.property(historyProperty); text != "" {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
		if err != nil || n < 1 {
			return fault.New(fault.Invalid, "%s must be positive but was %s", historyProperty, text)
		}
		keep = int(n)
	}
	needed := append(slices.Clone(b.changes.AddedVersions), b.current)
	slices.Sort(needed)
	needed = slices.Compact(needed)
	surplus := len(b.versions) - max(keep, len(needed))
	if surplus <= 0 {
		return nil
	}
	isNeeded := idSet(needed)
	ids := make([]int, 0, len(b.versions))
	for _, v := range b.versions {
		if !isNeeded[v.ID] {
			ids = append(ids, v.ID)
		}
	}
	slices.Sort(ids)
	gone := idSet(ids[:surplus])
	b.versions = slices.DeleteFunc(b.versions, func(v ViewVersion) bool { return gone[v.ID] })
	b.dirty["versions"] = true
	return nil
}

// versionLog gives the log with the new current version at its end, and without what lies before a version that is
// not kept any more.
func (b *viewBuilder) versionLog() json.RawMessage {
	var entries []json.RawMessage
	if b.base != nil {
		entries, _ = elementsOf(b.base.json.sectionValue("version-log"))
	}
	if b.dirty["current-version-id"] {
		entries = append(entries, joinMembers([]member{
			{"timestamp-ms", integer(b.became)}, {"version-id", integerOf(b.current)},
		}))
	}
	if b.base == nil || len(b.versions) == len(b.base.versions)+len(b.changes.AddedVersions) {
		return joinElements(entries)
	}
	versions := make(map[int]bool, len(b.versions))
	for _, v := range b.versions {
		versions[v.ID] = true
	}
	var kept []json.RawMessage
	for _, entry := range entries {
		if id, _ := intOf(memberOf(entry, "version-id")); versions[id] {
			kept = append(kept, entry)
		} else {
			kept = nil
		}
	}
	return joinElements(kept)
}
