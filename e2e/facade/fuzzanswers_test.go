package facade

// The operations, as the config answer and the specification spell them, and the routes that it does not list.
const (
	configOp = "GET /v1/config"
	tokenOp  = "POST /v1/oauth/tokens" //nolint:gosec // a route
	legacyOp = "POST /v1/aws/s3/sign"

	atNamespace       = " /v1/{prefix}/namespaces/{namespace}"
	atTable           = atNamespace + "/tables/{table}"
	atView            = atNamespace + "/views/{view}"
	signOp            = "POST" + atTable + "/sign"
	createTableOp     = "POST" + atNamespace + "/tables"
	loadTableOp       = "GET" + atTable
	commitTableOp     = "POST" + atTable
	planOp            = "POST" + atTable + "/plan"
	loadViewOp        = "GET" + atView
	createViewOp      = "POST" + atNamespace + "/views"
	registerTableOp   = "POST" + atNamespace + "/register"
	listNamespacesOp  = "GET /v1/{prefix}/namespaces"
	createNamespaceOp = "POST /v1/{prefix}/namespaces"
	listTablesOp      = "GET" + atNamespace + "/tables"
	listViewsOp       = "GET" + atNamespace + "/views"
	tasksOp           = "POST" + atTable + "/tasks"
	unregisterOp      = "POST" + atTable + "/unregister"
	renameTableOp     = "POST /v1/{prefix}/tables/rename"
	renameViewOp      = "POST /v1/{prefix}/views/rename"
	transactionOp     = "POST /v1/{prefix}/transactions/commit"
	registerViewOp    = "POST" + atNamespace + "/register-view"
)

// answerSpec is what an operation answers when it succeeds: required fields by their kinds, nil for 204.
type answerSpec struct {
	fields map[string]string
	check  func(p *problems, a answered, body map[string]any)
}

func answers() map[string]answerSpec {
	nothing := answerSpec{}
	listed := answerSpec{map[string]string{"identifiers": "list", "next-page-token": "string?"}, checkIdentifiers}
	namespace := answerSpec{map[string]string{"namespace": "list", "properties": "object?"}, nil}
	loaded := answerSpec{map[string]string{"metadata": "object", "metadata-location": "string?", "config": "object?", "storage-credentials": "list?"}, checkTable}
	committed := answerSpec{map[string]string{"metadata": "object", "metadata-location": "string"}, checkTable}
	aView := answerSpec{map[string]string{"metadata": "object", "metadata-location": "string", "config": "object?"}, func(p *problems, _ answered, body map[string]any) { p.viewDocument(body) }}
	planned := map[string]string{"plan-tasks": "list?", "file-scan-tasks": "list?", "delete-files": "list?"}
	signed := answerSpec{map[string]string{"uri": "string", "headers": "object"}, nil}
	return map[string]answerSpec{
		configOp:          {map[string]string{"defaults": "object", "overrides": "object", "endpoints": "list?"}, nil},
		tokenOp:           {map[string]string{"access_token": "string", "token_type": "string", "expires_in": "number?", "issued_token_type": "string?"}, nil},
		listNamespacesOp:  {map[string]string{"namespaces": "list", "next-page-token": "string?"}, nil},
		createNamespaceOp: namespace, "GET" + atNamespace: namespace, "HEAD" + atNamespace: nothing, "DELETE" + atNamespace: nothing,
		"POST" + atNamespace + "/properties": {map[string]string{"updated": "list", "removed": "list", "missing": "list?"}, nil},
		listTablesOp:                         listed, createTableOp: loaded, registerTableOp: loaded, loadTableOp: loaded, commitTableOp: committed, unregisterOp: committed,
		"HEAD" + atTable: nothing, "DELETE" + atTable: nothing, renameTableOp: nothing, transactionOp: nothing,
		"POST" + atTable + "/metrics":    nothing,
		"GET" + atTable + "/credentials": {map[string]string{"storage-credentials": "list"}, nil},
		listViewsOp:                      listed, createViewOp: aView, loadViewOp: aView, "POST" + atView: aView, registerViewOp: aView,
		"HEAD" + atView: nothing, "DELETE" + atView: nothing, renameViewOp: nothing,
		planOp:                                        {with(planned, "status", "string", "plan-id", "string"), checkPlan},
		"GET" + atTable + "/plan/{plan-id}":           {with(planned, "status", "string"), checkPlan},
		"DELETE" + atTable + "/plan/{plan-id}":        nothing,
		tasksOp:                                       {planned, checkPlan},
		"GET" + atNamespace + "/functions":            {map[string]string{"identifiers": "list", "next-page-token": "string?"}, nil},
		"GET" + atNamespace + "/functions/{function}": {map[string]string{"metadata": "object"}, nil},
		signOp: signed, legacyOp: signed,
	}
}

func with(fields map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for name, kind := range fields {
		out[name] = kind
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

func checkIdentifiers(p *problems, _ answered, body map[string]any) {
	for _, one := range body["identifiers"].([]any) {
		ident, _ := one.(map[string]any)
		p.exactly("an identifier", ident, map[string]string{"namespace": "list", "name": "string"})
	}
}

func checkTable(p *problems, a answered, body map[string]any) {
	p.tableDocument(body)
	if body["metadata-location"] != nil && a.header.Get("ETag") == "" && a.op != unregisterOp {
		p.add("a table without an ETag")
	}
}

func checkPlan(p *problems, a answered, body map[string]any) {
	if status := body["status"]; a.op != tasksOp && status != "completed" {
		p.add("status %v of a plan", status)
	}
	deletes, _ := body["delete-files"].([]any)
	tasks, _ := body["file-scan-tasks"].([]any)
	for _, one := range tasks {
		task, _ := one.(map[string]any)
		p.has("a scan task", task, map[string]string{"data-file": "object", "delete-file-references": "list?"})
		file, _ := task["data-file"].(map[string]any)
		p.has("a data file", file, map[string]string{
			"content": "string", "file-path": "string", "file-format": "string", "spec-id": "number", "file-size-in-bytes": "number", "record-count": "number",
		})
		references, _ := task["delete-file-references"].([]any)
		if len(references) > 0 && len(deletes) == 0 {
			p.add("a task refers to delete files that are not there")
		}
	}
}
