package metadata

import "encoding/json"

// viewDocReader reads the sections of a view document and keeps the first error.
type viewDocReader struct {
	json *Document
	err  error
}

func readViewDocument(sections *Document) (*ViewDocument, error) {
	r := viewDocReader{json: sections}
	if version := r.int("format-version"); r.err == nil && version != viewFormatVersion {
		return nil, badView("unsupported format version %d", version)
	}
	d := &ViewDocument{
		json: sections, uuid: r.string("view-uuid"), location: r.string("location"), current: r.int("current-version-id"),
	}
	d.schemas = r.schemas()
	d.versions = r.versions()
	d.properties = r.properties()
	r.log()
	if r.err != nil {
		return nil, r.err
	}
	current, ok := findVersion(d.versions, d.current)
	if !ok {
		return nil, badView("cannot find current version %d in versions", d.current)
	}
	if _, ok := findListed(d.schemas, current.SchemaID); !ok {
		return nil, badView("cannot find schema %d of the current version", current.SchemaID)
	}
	return d, nil
}

func (r *viewDocReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = badView(format, args...)
	}
}

func (r *viewDocReader) int(name string) int {
	n, ok := intOf(r.json.sectionValue(name))
	if !ok {
		r.fail("%s is missing or not a 32-bit integer", name)
	}
	return n
}

func (r *viewDocReader) string(name string) string {
	s, ok := stringOf(r.json.sectionValue(name))
	if !ok || s == "" {
		r.fail("%s is missing or not a non-empty string", name)
	}
	return s
}

func (r *viewDocReader) schemas() []listed {
	var list []listed
	known := map[int]bool{}
	ok := eachElement(r.json.sectionValue("schemas"), func(value []byte, _ int) {
		id, ok := intOf(memberOf(value, "schema-id"))
		if !ok || known[id] {
			r.fail("schemas has an element without a schema-id of its own")
		}
		known[id] = true
		list = append(list, listed{id: id, raw: value})
	})
	if !ok {
		r.fail("schemas is missing or not an array")
	}
	return list
}

func (r *viewDocReader) versions() []ViewVersion {
	var list []ViewVersion
	known := map[int]bool{}
	ok := eachElement(r.json.sectionValue("versions"), func(value []byte, _ int) {
		v, bad := readViewVersion(value)
		if known[v.ID] {
			bad = "version-id"
		}
		known[v.ID] = true
		if bad != "" {
			r.fail("versions has an element with a missing, invalid or repeated %s", bad)
		}
		list = append(list, v)
	})
	if !ok {
		r.fail("versions is missing or not an array")
	}
	return list
}

func (r *viewDocReader) properties() map[string]string {
	properties := map[string]string{}
	value := r.json.sectionValue("properties")
	ok := value == nil || eachMember(value, func(key, value []byte) {
		s, ok := stringOf(value)
		if !ok {
			r.fail("property %s is not a string", key)
		}
		properties[string(key)] = s
	})
	if !ok {
		r.fail("properties is not an object")
	}
	return properties
}

func (r *viewDocReader) log() {
	value := r.json.sectionValue("version-log")
	ok := value == nil || eachElement(value, func(value []byte, _ int) {
		_, isID := intOf(memberOf(value, "version-id"))
		if _, isTime := int64Of(memberOf(value, "timestamp-ms")); !isID || !isTime {
			r.fail("version-log has an element without a valid version-id and timestamp-ms")
		}
	})
	if !ok {
		r.fail("version-log is not an array")
	}
}

// readViewVersion reads a version leniently, and names the first member that makes it unusable. What only Java's
// parser insists on is checked when a version is added.
func readViewVersion(raw json.RawMessage) (v ViewVersion, bad string) {
	v.Raw = raw
	var ok bool
	if v.ID, ok = intOf(memberOf(raw, "version-id")); !ok {
		return v, "version-id"
	}
	if v.SchemaID, ok = intOf(memberOf(raw, "schema-id")); !ok {
		return v, "schema-id"
	}
	if v.TimestampMs, ok = int64Of(memberOf(raw, "timestamp-ms")); !ok {
		return v, "timestamp-ms"
	}
	v.Summary = map[string]string{}
	eachMember(memberOf(raw, "summary"), func(key, value []byte) {
		v.Summary[string(key)], _ = stringOf(value)
	})
	v.DefaultCatalog, _ = stringOf(memberOf(raw, "default-catalog"))
	v.DefaultNamespace, _ = stringsOf(memberOf(raw, "default-namespace"))
	ok = eachElement(memberOf(raw, "representations"), func(value []byte, _ int) {
		var p ViewRepresentation
		p.Type, _ = stringOf(memberOf(value, "type"))
		if p.Type == sqlRepresentation {
			p.SQL, _ = stringOf(memberOf(value, "sql"))
			p.Dialect, _ = stringOf(memberOf(value, "dialect"))
		}
		v.Representations = append(v.Representations, p)
	})
	if !ok {
		return v, "representations"
	}
	return v, ""
}
