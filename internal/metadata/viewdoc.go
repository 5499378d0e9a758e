package metadata

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
)

// viewFormatVersion is the only format of view metadata there is.
const viewFormatVersion = 1

// ViewDocument is one version of a view's metadata. Like a Document it keeps every byte that it was not asked to
// change. It is immutable and safe for concurrent use.
type ViewDocument struct {
	json           *Document // sections alone: its table views and indexes are empty
	uuid, location string
	current        int
	versions       []ViewVersion
	schemas        []listed
	properties     map[string]string
}

// ViewVersion is one definition that a view has or had.
type ViewVersion struct {
	ID, SchemaID     int
	TimestampMs      int64 // Unix milliseconds
	Summary          map[string]string
	DefaultCatalog   string // "" for the catalog the view is in
	DefaultNamespace []string
	Representations  []ViewRepresentation
	Raw              json.RawMessage // as it was written; must not be modified
}

// ViewRepresentation is one spelling of a definition. Types other than sql have neither SQL nor Dialect here.
type ViewRepresentation struct{ Type, SQL, Dialect string }

// ViewLogEntry says when a version became the current one.
type ViewLogEntry struct {
	VersionID   int
	TimestampMs int64 // Unix milliseconds
}

// ParseView reads a view metadata document. It keeps raw, which must not be modified afterwards. The error is Invalid
// for what no engine could open, a table's metadata among it. Unknown members and representation types pass.
func ParseView(raw []byte) (*ViewDocument, error) {
	if err := checkJSON(raw, maxDepth); err != nil {
		return nil, err
	}
	if !isObject(bytes.TrimSpace(raw)) {
		return nil, badView("it is not a JSON object")
	}
	sections, err := splitSections(raw)
	if err != nil {
		return nil, err
	}
	return readViewDocument(sections)
}

func badView(format string, args ...any) error {
	return fault.New(fault.Invalid, "Cannot parse view metadata: "+format, args...)
}

// Bytes is the document as JSON: the parsed bytes for a parsed document. It must not be modified.
func (d *ViewDocument) Bytes() []byte { return d.json.raw }

// Size is the number of bytes the document holds, for a cache's budget.
func (d *ViewDocument) Size() int {
	const fixed, perSection, perVersion = 1024, 96, 512
	return 3*len(d.json.raw) + fixed + perSection*len(d.json.sections) + perVersion*len(d.versions)
}

// Section gives the bytes of one top-level member, which must not be modified.
func (d *ViewDocument) Section(name string) (json.RawMessage, bool) { return d.json.Section(name) }

// FormatVersion is 1.
func (d *ViewDocument) FormatVersion() int { return viewFormatVersion }

// UUID identifies the view over renames.
func (d *ViewDocument) UUID() string { return d.uuid }

// Location is the view's base location as it is written.
func (d *ViewDocument) Location() string { return d.location }

// Properties gives a copy of the view properties.
func (d *ViewDocument) Properties() map[string]string { return maps.Clone(d.properties) }

// Versions gives the versions that are kept, in the order in which they are written.
func (d *ViewDocument) Versions() []ViewVersion { return slices.Clone(d.versions) }

// CurrentVersionID is the id of the definition in force.
func (d *ViewDocument) CurrentVersionID() int { return d.current }

// CurrentVersion is the definition in force.
func (d *ViewDocument) CurrentVersion() ViewVersion {
	v, _ := findVersion(d.versions, d.current)
	return v
}

// Schema decodes the schema of that id; false when there is none. The error is Invalid when it is malformed.
func (d *ViewDocument) Schema(id int) (Schema, bool, error) {
	l, ok := findListed(d.schemas, id)
	if !ok {
		return Schema{}, false, nil
	}
	schema, err := parseSchema(l.raw)
	return schema, true, err
}

// SchemaIDs gives the ids of the schemas, in the order in which they are written.
func (d *ViewDocument) SchemaIDs() []int {
	ids := make([]int, 0, len(d.schemas))
	for _, l := range d.schemas {
		ids = append(ids, l.id)
	}
	return ids
}

// VersionLog gives when which version became the current one, the oldest first.
func (d *ViewDocument) VersionLog() []ViewLogEntry {
	var log []ViewLogEntry
	eachElement(d.json.sectionValue("version-log"), func(value []byte, _ int) {
		var e ViewLogEntry
		e.VersionID, _ = intOf(memberOf(value, "version-id"))
		e.TimestampMs, _ = int64Of(memberOf(value, "timestamp-ms"))
		log = append(log, e)
	})
	return log
}

func findVersion(versions []ViewVersion, id int) (ViewVersion, bool) {
	for _, v := range versions {
		if v.ID == id {
			return v, true
		}
	}
	return ViewVersion{}, false
}
