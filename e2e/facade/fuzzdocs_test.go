package facade

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

// schema gives a random schema whose field 1 is the long id.
func (f *fuzzer) schema() map[string]any {
	next := 1
	fields := []any{map[string]any{"id": 1, "name": "id", "required": true, "type": "long"}}
	for range f.r.IntN(5) {
		next++
		field := map[string]any{"id": next, "name": f.fresh(), "required": false}
		field["type"] = f.columnType(&next, 2)
		if f.chance(20) {
			field["doc"] = f.fresh()
		}
		fields = append(fields, field)
	}
	return map[string]any{"type": "struct", "fields": fields}
}

func (f *fuzzer) columnType(next *int, deeper int) any {
	id := func() int { *next++; return *next }
	if deeper > 0 && f.chance(25) {
		switch f.r.IntN(3) {
		case 0:
			return map[string]any{"type": "list", "element-id": id(), "element-required": false, "element": f.columnType(next, deeper-1)}
		case 1:
			return map[string]any{"type": "map", "key-id": id(), "key": "string", "value-id": id(), "value-required": false, "value": f.columnType(next, deeper-1)}
		}
		return map[string]any{"type": "struct", "fields": []any{map[string]any{"id": id(), "name": "x", "required": false, "type": f.columnType(next, deeper-1)}}}
	}
	return pick[any](f.r, "int", "long", "string", "boolean", "float", "double", "date", "time", "timestamp", "timestamptz", "uuid", "binary", "decimal(10, 2)", "fixed[8]")
}

func (f *fuzzer) spec() map[string]any {
	transform := pick(f.r, "identity", "bucket[4]", "truncate[10]", "void")
	return map[string]any{"fields": []any{map[string]any{"source-id": 1, "transform": transform, "name": "part" + fmt.Sprint(f.r.IntN(1000))}}}
}

func (f *fuzzer) order() map[string]any {
	return map[string]any{"order-id": 1, "fields": []any{map[string]any{
		"source-id": 1, "transform": "identity", "direction": pick(f.r, "asc", "desc"), "null-order": pick(f.r, "nulls-first", "nulls-last"),
	}}}
}

func (f *fuzzer) createTable(s *shot) {
	f.namespace(s)
	body := map[string]any{"name": f.fresh(), "schema": f.schema(), "properties": map[string]any{"format-version": pick(f.r, "1", "2", "2", "3"), "k": f.fresh()}}
	if f.chance(30) {
		body["partition-spec"] = f.spec()
	}
	if f.chance(30) {
		body["write-order"] = f.order()
	}
	if f.chance(15) {
		body["stage-create"] = true
	}
	if f.chance(15) {
		f.named++
		body["location"] = fmt.Sprintf("%s/own/%d", f.site.warehouse, f.named)
	}
	s.body, s.owed = body, true
}

// registerTable registers the metadata file of a table that was unregistered, or one that somebody else wrote.
func (f *fuzzer) registerTable(s *shot) {
	f.namespace(s)
	s.body = map[string]any{"name": f.fresh(), "metadata-location": f.site.warehouse + "/nowhere/metadata/0.metadata.json"}
	if n := len(f.now.freed); n > 0 && f.chance(70) {
		s.body.(map[string]any)["metadata-location"] = f.now.freed[n-1]
		f.now.freed = f.now.freed[:n-1]
		return
	}
	if len(f.now.tables) == 0 {
		return
	}
	raw, _ := json.Marshal(f.document(anyOf(f.r, f.now.tables)))
	doc, _ := tree(raw).(map[string]any)
	f.named++
	place := fmt.Sprintf("%s/foreign/%d", f.site.warehouse, f.named)
	if doc == nil {
		return
	}
	doc["location"], doc["table-uuid"] = place, uuid.Must(uuid.NewRandomFromReader(f)).String()
	if raw, _ = json.Marshal(doc); f.chance(50) {
		raw = f.spoil(raw)
	}
	location := place + "/metadata/00000-a.metadata.json"
	if f.site.writer.Put(location, raw) == nil {
		s.body.(map[string]any)["metadata-location"] = location
	}
}

// Read gives random bytes from the seed.
func (f *fuzzer) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f.r.Uint32())
	}
	return len(p), nil
}

func (f *fuzzer) viewVersion() map[string]any {
	return map[string]any{
		"version-id": 1, "timestamp-ms": 1767225600000 + f.r.IntN(1000000), "schema-id": 0, "summary": map[string]any{"engine-name": "fuzz"},
		"representations":   []any{map[string]any{"type": "sql", "sql": "SELECT 1 AS " + fmt.Sprint("c", f.r.IntN(100)), "dialect": "spark"}},
		"default-namespace": []any{"db"},
	}
}

func (f *fuzzer) createView(s *shot) {
	f.namespace(s)
	schema := f.schema()
	schema["schema-id"] = 0
	s.body = map[string]any{"name": f.fresh(), "schema": schema, "view-version": f.viewVersion(), "properties": map[string]any{"k": "v"}}
	s.owed = true
}

func (f *fuzzer) replaceView(s *shot) {
	f.existing(s, "view")
	version := f.viewVersion()
	version["version-id"] = 2 + f.r.IntN(5)
	updates := []any{
		map[string]any{"action": "add-view-version", "view-version": version},
		map[string]any{"action": "set-current-view-version", "view-version-id": -1},
	}
	if f.chance(40) {
		updates = append(updates, map[string]any{"action": "set-properties", "updates": map[string]any{f.fresh(): "v"}})
	}
	requirements := []any{}
	id := f.now.views[key(s.params["namespace"], s.params["view"])]
	if s.owed = s.owed && f.sound(id); id != "" {
		requirements = append(requirements, map[string]any{"type": "assert-view-uuid", "uuid": id})
	}
	s.body = map[string]any{"requirements": requirements, "updates": updates}
}

func (f *fuzzer) registerView(s *shot) {
	f.namespace(s)
	s.body = map[string]any{"name": f.fresh(), "metadata-location": f.site.warehouse + "/nowhere/metadata/0.gz.metadata.json"}
	if len(f.now.views) == 0 {
		return
	}
	at := anyOf(f.r, f.now.views)
	load := f.shot(loadViewOp)
	load.params["namespace"], load.params["view"] = parts(at)
	loaded, _ := f.fire(load)
	doc, _ := loaded["metadata"].(map[string]any)
	if doc == nil {
		return
	}
	f.named++
	place := fmt.Sprintf("%s/foreign/%d", f.site.warehouse, f.named)
	doc["location"], doc["view-uuid"] = place, uuid.Must(uuid.NewRandomFromReader(f)).String()
	raw, _ := json.Marshal(doc)
	s.owed = true
	if f.chance(40) {
		raw, s.owed = f.spoil(raw), false
	}
	location := place + "/metadata/00000-a.metadata.json"
	if f.site.writer.Put(location, raw) == nil {
		s.body.(map[string]any)["metadata-location"] = location
	}
}

// document loads a table's metadata, nil when it is gone.
func (f *fuzzer) document(at string) map[string]any {
	load := f.shot(loadTableOp)
	load.params["namespace"], load.params["table"] = parts(at)
	body, _ := f.fire(load)
	doc, _ := body["metadata"].(map[string]any)
	return doc
}

// append writes the files of an append to a table and gives its commit.
func (f *fuzzer) append(doc map[string]any) (icebergtest.Commit, bool) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return icebergtest.Commit{}, false
	}
	t, err := icebergtest.Parse(raw)
	if err != nil {
		return icebergtest.Commit{}, false
	}
	c, err := f.site.writer.Append(t, 1+f.r.IntN(2), 3)
	return c, err == nil
}
