package facade

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// shadow is what the answers so far say that the catalog holds. A single client makes all changes, so that the catalog
// must hold that and nothing else.
type shadow struct {
	namespaces map[string]bool   // by levels joined with the unit separator
	tables     map[string]string // table UUID by key
	views      map[string]string // view UUID by key
	freed      []string          // metadata files of tables that were unregistered
	plans      []planned
	tags       map[string]string // the ETag last seen by table key
}

type planned struct {
	table, id string
	tasks     []string
}

func newShadow() *shadow {
	return &shadow{namespaces: map[string]bool{}, tables: map[string]string{}, views: map[string]string{}, tags: map[string]string{}}
}

// key names a table or view: the namespace's levels, then the name.
func key(namespace, name string) string { return namespace + "\x1e" + name }

func parts(key string) (namespace, name string) {
	namespace, name, _ = strings.Cut(key, "\x1e")
	return namespace, name
}

func ident(key string) map[string]any {
	namespace, name := parts(key)
	return map[string]any{"namespace": levels(namespace), "name": name}
}

func levels(namespace string) []any {
	var out []any
	for level := range strings.SplitSeq(namespace, "\x1f") {
		out = append(out, level)
	}
	return out
}

func keyOf(identifier any) string {
	m, _ := identifier.(map[string]any)
	var joined []string
	list, _ := m["namespace"].([]any)
	for _, level := range list {
		text, _ := level.(string)
		joined = append(joined, text)
	}
	name, _ := m["name"].(string)
	return key(strings.Join(joined, "\x1f"), name)
}

// any picks a member of a set, the same one for the same seed. The set must have one.
func anyOf[V any](r *rand.Rand, set map[string]V) string {
	keys := slices.Sorted(maps.Keys(set))
	return keys[r.IntN(len(keys))]
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// note takes down what a request did that was sent as it was built. It reports whether it knew.
func (w *shadow) note(s *shot, body map[string]any, tag string) bool {
	namespace, sent := s.params["namespace"], s.body
	sentObject, _ := sent.(map[string]any)
	name, _ := sentObject["name"].(string)
	at := key(namespace, s.params["table"])
	switch s.op {
	case createNamespaceOp:
		w.namespaces[strings.TrimSuffix(keyOf(map[string]any{"namespace": sentObject["namespace"]}), "\x1e")] = true
	case "DELETE" + atNamespace:
		delete(w.namespaces, namespace)
	case createTableOp:
		if sentObject["stage-create"] != true {
			w.tables[key(namespace, name)] = uuidOf(body, "table-uuid")
		}
	case registerTableOp:
		w.tables[key(namespace, name)] = uuidOf(body, "table-uuid")
	case commitTableOp:
		w.tables[at] = uuidOf(body, "table-uuid")
	case loadTableOp:
		w.tags[at] = tag
	case "DELETE" + atTable:
		delete(w.tables, at)
	case unregisterOp:
		delete(w.tables, at)
		location, _ := body["metadata-location"].(string)
		w.freed = append(w.freed, location)
	case renameTableOp:
		move(w.tables, sentObject)
	case createViewOp, registerViewOp:
		w.views[key(namespace, name)] = uuidOf(body, "view-uuid")
	case "DELETE" + atView:
		delete(w.views, key(namespace, s.params["view"]))
	case renameViewOp:
		move(w.views, sentObject)
	case planOp:
		w.notePlan(at, body)
	case tasksOp, transactionOp, "POST" + atView, "POST" + atNamespace + "/properties":
	default:
		return s.method == "GET" || s.method == "HEAD" || s.method == "DELETE" || strings.HasSuffix(s.op, "/metrics") || s.op == tokenOp
	}
	return true
}

func (w *shadow) notePlan(table string, body map[string]any) {
	p := planned{table: table}
	p.id, _ = body["plan-id"].(string)
	list, _ := body["plan-tasks"].([]any)
	for _, one := range list {
		task, _ := one.(string)
		p.tasks = append(p.tasks, task)
	}
	w.plans = append(w.plans, p)
}

func move(set map[string]string, rename map[string]any) {
	from, to := keyOf(rename["source"]), keyOf(rename["destination"])
	if uuid, ok := set[from]; ok {
		delete(set, from)
		set[to] = uuid
	}
}

func uuidOf(body map[string]any, field string) string {
	doc, _ := body["metadata"].(map[string]any)
	uuid, _ := doc[field].(string)
	return uuid
}

// tree reads JSON into the maps, lists, strings and numbers that shots and mutations work on.
func tree(raw []byte) any {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil
	}
	return v
}

// number reads a whole number of a tree, 0 when there is none.
func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}
