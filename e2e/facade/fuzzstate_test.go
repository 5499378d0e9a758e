package facade

import (
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

// holdings is what the catalog says that it holds.
type holdings struct {
	namespaces    []string
	tables, views []string
}

// walk lists everything, in pages of a few.
func (f *fuzzer) walk() holdings {
	var h holdings
	var visit func(parent string)
	visit = func(parent string) {
		for _, one := range f.pages("/namespaces", "namespaces", "parent", parent) {
			path, _ := one.([]any)
			namespace := strings.TrimSuffix(keyOf(map[string]any{"namespace": path}), "\x1e")
			h.namespaces = append(h.namespaces, namespace)
			at := "/namespaces/" + escape(namespace)
			for _, ident := range f.pages(at+"/tables", "identifiers") {
				h.tables = append(h.tables, keyOf(ident))
			}
			for _, ident := range f.pages(at+"/views", "identifiers") {
				h.views = append(h.views, keyOf(ident))
			}
			visit(namespace)
		}
	}
	visit("")
	return h
}

// pages reads a listing to its end.
func (f *fuzzer) pages(path, field string, query ...string) []any {
	var all []any
	for token := ""; ; {
		q := url.Values{"pageToken": {token}, "pageSize": {"3"}}
		for i := 0; i < len(query); i += 2 {
			q.Set(query[i], query[i+1])
		}
		var page map[string]any
		f.site.want(f.t, 200, f.site.get(f.t, path+"?"+q.Encode())).into(f.t, &page)
		list, _ := page[field].([]any)
		all = append(all, list...)
		if token, _ = page["next-page-token"].(string); token == "" {
			return all
		}
	}
}

// learn takes over what the catalog holds, after a request of which nobody can say what it meant.
func (f *fuzzer) learn() {
	h := f.walk()
	fresh := newShadow()
	fresh.freed, fresh.plans, fresh.tags = f.now.freed, f.now.plans, f.now.tags
	for _, namespace := range h.namespaces {
		fresh.namespaces[namespace] = true
	}
	for _, at := range h.tables {
		fresh.tables[at] = f.now.tables[at]
	}
	for _, at := range h.views {
		fresh.views[at] = f.now.views[at]
	}
	f.now = fresh
}

// compare gives what the catalog holds too much, too little or twice.
func compare(now *shadow, h holdings) problems {
	var p problems
	for _, kind := range []struct {
		name      string
		want, got []string
	}{
		{"namespace", slices.Collect(maps.Keys(now.namespaces)), h.namespaces},
		{"table", slices.Collect(maps.Keys(now.tables)), h.tables},
		{"view", slices.Collect(maps.Keys(now.views)), h.views},
	} {
		listed := map[string]int{}
		for _, one := range kind.got {
			if listed[one]++; listed[one] == 2 {
				p.add("the %s %q is listed twice", kind.name, one)
			}
			if !slices.Contains(kind.want, one) {
				p.add("the %s %q is there and no answer said so", kind.name, one)
			}
		}
		for _, one := range kind.want {
			if listed[one] == 0 {
				p.add("the %s %q is gone", kind.name, one)
			}
		}
	}
	return p
}

// checkState compares the catalog with what the answers said, and reads every table and view of it.
func (f *fuzzer) checkState() {
	h := f.walk()
	assert.Empty(f.t, compare(f.now, h))
	for _, at := range h.tables {
		load := f.shot(loadTableOp)
		load.params["namespace"], load.params["table"] = parts(at)
		load.owed = true
		body, _ := f.fire(load)
		if uuid := f.now.tables[at]; uuid != "" {
			assert.Equal(f.t, uuid, uuidOf(body, "table-uuid"), "the table %q is another", at)
		}
		f.checkFile(at, body)
	}
	for _, at := range h.views {
		load := f.shot(loadViewOp)
		load.params["namespace"], load.params["view"] = parts(at)
		load.owed = true
		body, _ := f.fire(load)
		if uuid := f.now.views[at]; uuid != "" {
			assert.Equal(f.t, uuid, uuidOf(body, "view-uuid"), "the view %q is another", at)
		}
	}
}

// checkFile compares a table as loaded with its metadata file, and its refs with its snapshots.
func (f *fuzzer) checkFile(at string, body map[string]any) {
	location, _ := body["metadata-location"].(string)
	raw, err := os.ReadFile(icebergtest.LocalPath(location))
	if assert.NoError(f.t, err, "the metadata file of %q", at) {
		assert.Equal(f.t, tree(plain(raw)), body["metadata"], "the metadata file of %q", at)
	}
	doc, _ := body["metadata"].(map[string]any)
	known := map[int64]bool{}
	list, _ := doc["snapshots"].([]any)
	for _, one := range list {
		snapshot, _ := one.(map[string]any)
		known[number(snapshot["snapshot-id"])] = true
	}
	refs, _ := doc["refs"].(map[string]any)
	for name, one := range refs {
		ref, _ := one.(map[string]any)
		assert.True(f.t, known[number(ref["snapshot-id"])], "%q: the ref %q points to no snapshot", at, name)
	}
}

// checkCoverage sees to it that the run meant something: each operation was answered, and refused, at least once.
func (f *fuzzer) checkCoverage() {
	if *requests < 2000 || f.bad > 0 {
		return
	}
	never := []string{signOp, legacyOp, "GET" + atNamespace + "/functions/{function}"} // what they are for is not there yet
	for op := range f.make {
		if !slices.Contains(never, op) {
			assert.Positive(f.t, f.succeeded[op], "%s never succeeded", op)
		}
		assert.Positive(f.t, f.refused[op], "%s was never refused", op)
	}
}

func (f *fuzzer) checkLog() {
	for _, line := range f.log.lines() {
		require.NotContains(f.t, line, "panic")
		if f.bad > 0 && line != "" {
			f.t.Log(line)
		}
	}
}
