package facade

import (
	"encoding/base64"
	"fmt"
)

func (f *fuzzer) commitTable(s *shot) {
	if f.chance(15) {
		f.commitStaged(s)
		return
	}
	f.existing(s, "table")
	body, sure := f.commitOf(key(s.params["namespace"], s.params["table"]))
	s.body, s.owed = body, s.owed && sure
}

func (f *fuzzer) transaction(s *shot) {
	var changes []any
	s.owed = len(f.now.tables) > 0
	seen := map[string]bool{}
	for range 1 + f.r.IntN(3) {
		if len(f.now.tables) == 0 {
			break
		}
		at := anyOf(f.r, f.now.tables)
		if seen[at] {
			continue
		}
		seen[at] = true
		body, sure := f.commitOf(at)
		body["identifier"] = ident(at)
		changes, s.owed = append(changes, body), s.owed && sure
	}
	s.body = map[string]any{"table-changes": changes}
}

// commitStaged creates a table as engines do that write its first rows before it is there.
func (f *fuzzer) commitStaged(s *shot) {
	stage := f.shot(createTableOp)
	f.createTable(stage)
	request := stage.body.(map[string]any)
	request["stage-create"] = true
	staged, _ := f.fire(stage)
	doc, _ := staged["metadata"].(map[string]any)
	s.params["namespace"], s.params["table"] = stage.params["namespace"], request["name"].(string)
	if doc == nil {
		s.body = map[string]any{"requirements": []any{}, "updates": []any{}}
		return
	}
	updates := []any{
		map[string]any{"action": "assign-uuid", "uuid": doc["table-uuid"]},
		map[string]any{"action": "upgrade-format-version", "format-version": doc["format-version"]},
		map[string]any{"action": "add-schema", "schema": first(doc["schemas"]), "last-column-id": doc["last-column-id"]},
		map[string]any{"action": "set-current-schema", "schema-id": -1},
		map[string]any{"action": "add-spec", "spec": first(doc["partition-specs"])},
		map[string]any{"action": "set-default-spec", "spec-id": -1},
		map[string]any{"action": "add-sort-order", "sort-order": first(doc["sort-orders"])},
		map[string]any{"action": "set-default-sort-order", "sort-order-id": -1},
		map[string]any{"action": "set-location", "location": doc["location"]},
	}
	if f.chance(50) {
		if c, ok := f.append(doc); ok {
			for _, update := range c.Updates {
				updates = append(updates, tree(update))
			}
		}
	}
	s.body = map[string]any{"requirements": []any{map[string]any{"type": "assert-create"}}, "updates": updates}
	s.owed = true
}

func first(list any) any {
	if l, _ := list.([]any); len(l) > 0 {
		return l[0]
	}
	return nil
}

// commitOf gives a commit of one to three random changes of what the table is now, and whether it must succeed.
func (f *fuzzer) commitOf(at string) (map[string]any, bool) {
	doc := f.document(at)
	updates, sure := []any{}, doc != nil && f.sound(f.now.tables[at])
	for range 1 + f.r.IntN(3) {
		more, safe := f.change(doc, len(updates) > 0)
		updates, sure = append(updates, more...), sure && safe
	}
	return map[string]any{"requirements": f.requirements(doc), "updates": updates}, sure
}

// requirements gives some of those that hold of a document.
func (f *fuzzer) requirements(doc map[string]any) []any {
	all := []any{
		map[string]any{"type": "assert-table-uuid", "uuid": doc["table-uuid"]},
		map[string]any{"type": "assert-current-schema-id", "current-schema-id": doc["current-schema-id"]},
		map[string]any{"type": "assert-last-assigned-field-id", "last-assigned-field-id": doc["last-column-id"]},
		map[string]any{"type": "assert-default-spec-id", "default-spec-id": doc["default-spec-id"]},
		map[string]any{"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": doc["last-partition-id"]},
		map[string]any{"type": "assert-default-sort-order-id", "default-sort-order-id": doc["default-sort-order-id"]},
		map[string]any{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": head(doc)},
	}
	f.r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:f.r.IntN(len(all)+1)]
}

// head gives main's snapshot, nil when there is none.
func head(doc map[string]any) any {
	refs, _ := doc["refs"].(map[string]any)
	main, _ := refs["main"].(map[string]any)
	return main["snapshot-id"]
}

func (f *fuzzer) snapshot(doc map[string]any) any {
	list, _ := doc["snapshots"].([]any)
	if len(list) == 0 {
		return f.r.Int64()
	}
	one, _ := list[f.r.IntN(len(list))].(map[string]any)
	return one["snapshot-id"]
}

// change gives one change and whether a table must take it. after tells that others come before it in the commit.
func (f *fuzzer) change(doc map[string]any, after bool) ([]any, bool) {
	act := func(action string, fields ...any) []any {
		update := map[string]any{"action": action}
		for i := 0; i < len(fields); i += 2 {
			update[fields[i].(string)] = fields[i+1]
		}
		return []any{update}
	}
	snapshot := f.snapshot(doc)
	switch f.r.IntN(20) {
	case 0, 1:
		return act("set-properties", "updates", map[string]any{"k" + fmt.Sprint(f.r.IntN(9)): f.fresh()}), true
	case 2:
		return act("remove-properties", "removals", []any{"k" + fmt.Sprint(f.r.IntN(9))}), true
	case 3, 4:
		return append(act("add-schema", "schema", f.grown(doc)), act("set-current-schema", "schema-id", -1)...), false
	case 5:
		return append(act("add-spec", "spec", f.spec()), act("set-default-spec", "spec-id", -1)...), false
	case 6:
		return append(act("add-sort-order", "sort-order", f.order()), act("set-default-sort-order", "sort-order-id", -1)...), false
	case 7:
		return act("set-snapshot-ref", "ref-name", f.fresh(), "type", pick(f.r, "branch", "tag"), "snapshot-id", snapshot, "max-ref-age-ms", 1+f.r.IntN(1e9)), false
	case 8:
		return act("remove-snapshot-ref", "ref-name", pick(f.r, "main", f.fresh())), false
	case 9:
		return act("remove-snapshots", "snapshot-ids", []any{snapshot}), false
	case 10:
		return act(pick(f.r, "set-statistics", "set-partition-statistics"), "snapshot-id", snapshot, "statistics", f.statistics(doc, snapshot), "partition-statistics", f.statistics(doc, snapshot)), false
	case 11:
		return act(pick(f.r, "remove-statistics", "remove-partition-statistics"), "snapshot-id", snapshot), false
	case 12:
		return act("upgrade-format-version", "format-version", pick(f.r, 1, 2, 3, 4)), false
	case 13:
		secret := base64.StdEncoding.EncodeToString([]byte(f.fresh()))
		return act(pick(f.r, "add-encryption-key", "remove-encryption-key"), "key-id", "k", "encryption-key", map[string]any{"key-id": "k", "encrypted-key-metadata": secret}), false
	case 14:
		return act(pick(f.r, "remove-schemas", "remove-partition-specs"), "schema-ids", []any{f.r.IntN(3)}, "spec-ids", []any{f.r.IntN(3)}), false
	case 15:
		return act("set-location", "location", f.site.warehouse+"/moved/"+fmt.Sprint(f.r.IntN(50))), false
	case 16:
		return act("assign-uuid", "uuid", doc["table-uuid"]), false
	}
	c, ok := f.append(doc)
	var out []any
	for _, update := range c.Updates {
		out = append(out, tree(update))
	}
	return out, ok && !after
}

// grown gives the current schema with one column more.
func (f *fuzzer) grown(doc map[string]any) any {
	list, _ := doc["schemas"].([]any)
	for _, one := range list {
		schema, _ := one.(map[string]any)
		fields, _ := schema["fields"].([]any)
		if number(schema["schema-id"]) == number(doc["current-schema-id"]) {
			next := int(number(doc["last-column-id"])) + 1
			column := map[string]any{"id": next, "name": f.fresh(), "required": f.chance(10), "type": f.columnType(&next, 1)}
			return map[string]any{"type": "struct", "fields": append(append([]any{}, fields...), column)}
		}
	}
	return f.schema()
}

func (f *fuzzer) statistics(doc map[string]any, snapshot any) map[string]any {
	return map[string]any{
		"snapshot-id": snapshot, "statistics-path": fmt.Sprint(doc["location"], "/metadata/s.puffin"), "file-size-in-bytes": 10, "file-footer-size-in-bytes": 5,
		"blob-metadata": []any{},
	}
}
