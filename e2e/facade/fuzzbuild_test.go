package facade

import (
	"fmt"
	"strings"
)

// builders gives for each operation what makes a request of it that is right as far as the shadow knows.
func (f *fuzzer) builders() map[string]func(*shot) {
	inTable, inView := func(s *shot) { f.existing(s, "table") }, func(s *shot) { f.existing(s, "view") }
	return map[string]func(*shot){
		configOp:                               func(s *shot) { s.query = append(s.query, [2]string{"warehouse", "main"}); s.owed = true },
		tokenOp:                                f.token,
		listNamespacesOp:                       f.listNamespaces,
		createNamespaceOp:                      f.createNamespace,
		"GET" + atNamespace:                    func(s *shot) { f.namespace(s); s.owed = true },
		"HEAD" + atNamespace:                   func(s *shot) { f.namespace(s); s.owed = true },
		"DELETE" + atNamespace:                 f.namespace,
		"POST" + atNamespace + "/properties":   f.properties,
		listTablesOp:                           func(s *shot) { f.namespace(s); f.page(s); s.owed = true },
		createTableOp:                          f.createTable,
		registerTableOp:                        f.registerTable,
		loadTableOp:                            f.loadTable,
		"HEAD" + atTable:                       inTable,
		commitTableOp:                          f.commitTable,
		"DELETE" + atTable:                     f.dropTable,
		unregisterOp:                           func(s *shot) { inTable(s); s.body = map[string]any{} },
		renameTableOp:                          func(s *shot) { f.rename(s, f.now.tables) },
		transactionOp:                          f.transaction,
		listViewsOp:                            func(s *shot) { f.namespace(s); f.page(s); s.owed = true },
		createViewOp:                           f.createView,
		loadViewOp:                             inView,
		"HEAD" + atView:                        inView,
		"POST" + atView:                        f.replaceView,
		"DELETE" + atView:                      inView,
		renameViewOp:                           func(s *shot) { f.rename(s, f.now.views) },
		registerViewOp:                         f.registerView,
		planOp:                                 f.plan,
		"GET" + atTable + "/plan/{plan-id}":    f.poll,
		"DELETE" + atTable + "/plan/{plan-id}": f.poll,
		tasksOp:                                f.tasks,
		"POST" + atTable + "/metrics":          f.metrics,
		"GET" + atTable + "/credentials":       inTable,
		"GET" + atNamespace + "/functions":     func(s *shot) { f.namespace(s); f.page(s); s.owed = true },
		"GET" + atNamespace + "/functions/{function}": func(s *shot) { f.namespace(s); s.params["function"] = f.fresh() },
		signOp:   func(s *shot) { f.existing(s, "table"); f.sign(s) },
		legacyOp: f.sign,
	}
}

// fresh gives a name that nothing has yet, often one that needs care.
func (f *fuzzer) fresh() string {
	f.named++
	return pick(f.r, "t", "t", "t", "Ünï", "a b", "a/b", "x.y", "%41", "a+b", "q?&=#", "'; --", "日本", "..", "a\\b", "\"", "🧊") + fmt.Sprint(f.named)
}

// namespace names one that is there.
func (f *fuzzer) namespace(s *shot) { s.params["namespace"] = anyOf(f.r, f.now.namespaces) }

// existing names a table or view that is there, if any.
func (f *fuzzer) existing(s *shot, kind string) {
	set := f.now.tables
	if kind == "view" {
		set = f.now.views
	}
	if len(set) == 0 {
		f.namespace(s)
		s.params[kind] = f.fresh()
		return
	}
	s.params["namespace"], s.params[kind] = parts(anyOf(f.r, set))
	s.owed = true
}

func (f *fuzzer) page(s *shot) {
	if f.chance(50) {
		s.query = append(s.query, [2]string{"pageToken", ""})
	}
	if f.chance(50) {
		s.query = append(s.query, [2]string{"pageSize", pick(f.r, "1", "2", "1000", "99999999")})
	}
}

func (f *fuzzer) listNamespaces(s *shot) {
	f.page(s)
	if f.chance(50) {
		s.query = append(s.query, [2]string{"parent", pick(f.r, "", anyOf(f.r, f.now.namespaces))})
	}
	s.owed = true
}

func (f *fuzzer) createNamespace(s *shot) {
	path := []any{f.fresh()}
	if parent := anyOf(f.r, f.now.namespaces); f.chance(50) && strings.Count(parent, "\x1f") < 3 {
		path = append(levels(parent), path...)
	}
	s.body = map[string]any{"namespace": path, "properties": map[string]any{"owner": f.fresh()}}
	s.owed = true
}

func (f *fuzzer) properties(s *shot) {
	f.namespace(s)
	s.body = map[string]any{"updates": map[string]any{"k" + fmt.Sprint(f.r.IntN(5)): f.fresh()}, "removals": []any{"k" + fmt.Sprint(5+f.r.IntN(5))}}
	s.owed = true
}

func (f *fuzzer) loadTable(s *shot) {
	f.existing(s, "table")
	if f.chance(30) {
		s.query = append(s.query, [2]string{"snapshots", pick(f.r, "all", "refs")})
	}
	if tag := f.now.tags[key(s.params["namespace"], s.params["table"])]; tag != "" && f.chance(40) {
		s.set("If-None-Match", tag)
	}
	if f.chance(30) {
		s.set("X-Iceberg-Access-Delegation", pick(f.r, "vended-credentials", "remote-signing", "vended-credentials,remote-signing"))
	}
}

func (f *fuzzer) dropTable(s *shot) {
	f.existing(s, "table")
	if f.chance(50) {
		s.query = append(s.query, [2]string{"purgeRequested", pick(f.r, "true", "false", "True")})
	}
}

func (f *fuzzer) rename(s *shot, set map[string]string) {
	to := key(anyOf(f.r, f.now.namespaces), f.fresh())
	from := to
	if len(set) > 0 {
		from, s.owed = anyOf(f.r, set), true
	}
	s.body = map[string]any{"source": ident(from), "destination": ident(to)}
}

func (f *fuzzer) token(s *shot) {
	s.form = map[string][]string{
		"grant_type":    {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"subject_token": {f.site.token}, "subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
	}
	s.set("Authorization", "Bearer "+f.site.token)
	s.owed = true
}

func (f *fuzzer) sign(s *shot) {
	s.body = map[string]any{
		"region": "us-east-1", "uri": pick(f.r, "https://s3.example/bucket/key", "s3://b/k", "file:///etc/passwd"), "method": pick(f.r, "GET", "PUT", "POST", "DELETE"),
		"headers": map[string]any{"host": []any{"s3.example"}}, "properties": map[string]any{}, "body": "<Delete/>", "provider": "s3",
	}
	s.owed = false
}

func (f *fuzzer) metrics(s *shot) {
	f.existing(s, "table")
	s.body = map[string]any{
		"report-type": pick(f.r, "scan-report", "commit-report"), "table-name": "t", "snapshot-id": f.r.Int64(), "sequence-number": 3, "operation": "append",
		"filter": map[string]any{"type": "eq", "term": "id", "value": 5}, "schema-id": 0, "projected-field-ids": []any{1}, "projected-field-names": []any{"id"},
		"metrics": map[string]any{"total-duration": map[string]any{"count": 1, "time-unit": "nanoseconds", "total-duration": 12}, "attempts": map[string]any{"unit": "count", "value": 1}},
	}
}

func (f *fuzzer) plan(s *shot) {
	f.existing(s, "table")
	at := key(s.params["namespace"], s.params["table"])
	doc := f.document(at)
	leaf := map[string]any{"type": pick(f.r, "eq", "lt", "gt-eq", "not-eq"), "term": "id", "value": f.r.IntN(100)}
	s.body = map[string]any{"case-sensitive": f.chance(80), "filter": pick[any](f.r, leaf, true, map[string]any{"type": "not", "child": leaf},
		map[string]any{"type": pick(f.r, "and", "or"), "left": leaf, "right": map[string]any{"type": "is-null", "term": "id"}},
		map[string]any{"type": "in", "term": "id", "values": []any{1, 2, 3}})}
	if snapshots, _ := doc["snapshots"].([]any); len(snapshots) > 0 && f.chance(50) {
		s.body.(map[string]any)["snapshot-id"] = snapshots[f.r.IntN(len(snapshots))].(map[string]any)["snapshot-id"]
	}
	s.owed = s.owed && f.sound(f.now.tables[at])
}

func (f *fuzzer) poll(s *shot) {
	f.existing(s, "table")
	s.params["plan-id"] = f.fresh()
	if len(f.now.plans) > 0 {
		p := pick(f.r, f.now.plans...)
		s.params["plan-id"] = p.id
		s.params["namespace"], s.params["table"] = parts(p.table)
	}
	s.owed = false // the table may be gone
}

func (f *fuzzer) tasks(s *shot) {
	f.poll(s)
	task := any("made-up")
	for _, p := range f.now.plans {
		if len(p.tasks) > 0 && f.now.tables[p.table] != "" {
			task = pick(f.r, p.tasks...)
			s.params["namespace"], s.params["table"] = parts(p.table)
		}
	}
	delete(s.params, "plan-id")
	s.body = map[string]any{"plan-task": task}
}
