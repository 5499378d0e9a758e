package facade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"
)

// answered is one exchange, as far as judging it needs. op is as the config answer spells it, "" when nobody can say
// which operation the request reached.
type answered struct {
	op, method  string
	conditional bool // If-None-Match was sent
	hungUp      bool // the client ended its side before the whole request was sent
	closed      bool // the server ended the connection
	token       bool // the request reached the token endpoint
	status      int
	header      http.Header
	body        []byte
}

// judge gives what is wrong with an answer, whatever was asked.
func judge(a answered) []string {
	var p problems
	if a.header.Get("X-Request-ID") == "" && !a.unread() {
		p.add("no X-Request-ID")
	}
	switch {
	case a.status == statusHungUp && a.hungUp:
	case a.status == http.StatusServiceUnavailable:
		if a.header.Get("Retry-After") == "" {
			p.add("503 without Retry-After")
		}
		p.refusal(a)
	case a.status >= 500:
		p.add("status %d", a.status)
	case a.status >= 400:
		p.refusal(a)
	case a.status == http.StatusNotModified:
		p.notModified(a)
	case a.status == http.StatusOK || a.status == http.StatusNoContent:
		p.success(a)
	default:
		p.add("status %d is none of the protocol's", a.status)
	}
	return p
}

// statusHungUp is what a request is answered with whose client is taken to be gone.
const statusHungUp = 499

// unread tells that the server could not read this as a request, and said so without looking at what it is for.
func (a answered) unread() bool {
	return a.closed && a.status == http.StatusBadRequest && a.header.Get("X-Request-ID") == ""
}

type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// leak matches what only the inside of a server knows.
var leak = regexp.MustCompile(`\.go:\d|goroutine|runtime error|nil pointer|(?i:sqlstate|sqlite|gorm|constraint failed|panic)|nmarshal|strconv\.|reflect\.|json: |no such file or directory`)

func (p *problems) refusal(a answered) {
	if a.method == http.MethodHead {
		if len(a.body) > 0 {
			p.add("a HEAD has a body")
		}
		return
	}
	body, ok := p.json(a)
	if !ok {
		return
	}
	if a.token && !a.unread() {
		p.oauthRefusal(a, body)
	} else {
		p.icebergRefusal(a, body)
	}
	if found := leak.Find(a.body); found != nil {
		p.add("the message tells of the inside: %q", found)
	}
	if a.status == http.StatusUnauthorized && a.header.Get("WWW-Authenticate") == "" {
		p.add("401 without WWW-Authenticate")
	}
	if a.status == http.StatusMethodNotAllowed && a.header.Get("Allow") == "" {
		p.add("405 without Allow")
	}
}

func (p *problems) icebergRefusal(a answered, body map[string]any) {
	p.exactly("the error body", body, map[string]string{"error": "object"})
	model, _ := body["error"].(map[string]any)
	if model == nil {
		return
	}
	p.exactly("error", model, map[string]string{"message": "string", "type": "string", "code": "number", "stack": "list?"})
	if code, _ := model["code"].(json.Number); code.String() != fmt.Sprint(a.status) {
		p.add("error.code is %s, the status %d", code, a.status)
	}
	if message, _ := model["message"].(string); len(message) < 10 {
		p.add("error.message says nothing: %q", message)
	}
	kind, _ := model["type"].(string)
	if !slices.Contains(kindsOf(a.status), kind) {
		p.add("type %q does not go with %d", kind, a.status)
	}
}

// kindsOf gives the error types that clients are told under a status.
func kindsOf(status int) []string {
	return map[int][]string{
		400: {"BadRequestException", "IllegalArgumentException", "ValidationException"},
		401: {"NotAuthorizedException"},
		403: {"ForbiddenException"},
		404: {
			"NoSuchNamespaceException", "NoSuchTableException", "NoSuchViewException", "NoSuchWarehouseException", "NoSuchPlanIdException",
			"NoSuchPlanTaskException", "NoSuchFunctionException", "NotFoundException", "NoSuchRouteException",
		},
		405: {"MethodNotAllowedException"},
		406: {"UnsupportedOperationException"},
		409: {"AlreadyExistsException", "NamespaceNotEmptyException", "CommitFailedException"},
		413: {"RequestTooLargeException"},
		414: {"RequestURITooLongException"},
		415: {"UnsupportedMediaTypeException"},
		422: {"UnprocessableEntityException"},
		429: {"SlowDownException"},
		431: {"RequestHeadersTooLargeException"},
		503: {"SlowDownException"},
	}[status]
}

func (p *problems) oauthRefusal(a answered, body map[string]any) {
	p.exactly("the OAuth error", body, map[string]string{"error": "string", "error_description": "string?", "error_uri": "string?"})
	code, _ := body["error"].(string)
	known := []string{"invalid_request", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
	switch {
	case a.status == http.StatusUnauthorized && code == "invalid_client":
	case a.status != http.StatusUnauthorized && slices.Contains(known, code):
	case a.status == http.StatusServiceUnavailable && code == "temporarily_unavailable":
	default:
		p.add("OAuth error %q does not go with %d", code, a.status)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		p.add("an answer of the token endpoint may be cached")
	}
}

func (p *problems) notModified(a answered) {
	if !a.conditional || len(a.body) > 0 || a.header.Get("ETag") == "" {
		p.add("304 that nobody asked for, with a body or without an ETag")
	}
}

// success compares with what the specification says of the operation.
func (p *problems) success(a answered) {
	if a.status == http.StatusNoContent && len(a.body) > 0 {
		p.add("204 with a body")
	}
	if a.op == "" {
		return
	}
	want, ok := answers()[a.op]
	if !ok {
		p.add("nobody said what %s answers", a.op)
		return
	}
	if wanted := http.StatusOK; (want.fields == nil) != (a.status == http.StatusNoContent) {
		if want.fields == nil {
			wanted = http.StatusNoContent
		}
		p.add("status %d, not %d", a.status, wanted)
		return
	}
	if want.fields == nil {
		return
	}
	body, ok := p.json(a)
	if !ok {
		return
	}
	p.has("the answer", body, want.fields)
	if want.check != nil && len(*p) == 0 {
		want.check(p, a, body)
	}
}

// json reads a body that must be one JSON object.
func (p *problems) json(a answered) (map[string]any, bool) {
	if kind := a.header.Get("Content-Type"); kind != "application/json" {
		p.add("Content-Type is %q", kind)
	}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	var body map[string]any
	if err := decoder.Decode(&body); err != nil || body == nil {
		p.add("the body is no JSON object: %v", err)
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		p.add("something follows the JSON")
	}
	return body, true
}

// exactly wants fields of their kinds and no others.
func (p *problems) exactly(what string, object map[string]any, fields map[string]string) {
	p.has(what, object, fields)
	for name := range object {
		if _, ok := fields[name]; !ok {
			p.add("%s has %q", what, name)
		}
	}
}

// has wants fields of their kinds; a kind that ends in ? may be absent, or null.
func (p *problems) has(what string, object map[string]any, fields map[string]string) {
	for name, kind := range fields {
		kind, optional := strings.CutSuffix(kind, "?")
		value, there := object[name]
		if got := kindOfJSON(value); got != kind && (!optional || there && value != nil) {
			p.add("%s: %q is %s, not %s", what, name, got, kind)
		}
	}
}

func kindOfJSON(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "nothing"
}

func (p *problems) tableDocument(body map[string]any) {
	doc := body["metadata"].(map[string]any)
	p.has("metadata", doc, map[string]string{
		"format-version": "number", "table-uuid": "string", "location": "string", "last-updated-ms": "number", "last-column-id": "number",
		"schemas": "list?", "current-schema-id": "number?", "partition-specs": "list?", "default-spec-id": "number?",
		"last-partition-id": "number?", "sort-orders": "list?", "default-sort-order-id": "number?", "properties": "object?",
	})
	if raw, err := json.Marshal(doc); err != nil {
		p.add("metadata: %v", err)
	} else if _, err := table.ParseMetadataBytes(raw); err != nil {
		p.add("iceberg-go cannot read the metadata: %v", err)
	}
}

func (p *problems) viewDocument(body map[string]any) {
	doc := body["metadata"].(map[string]any)
	p.has("metadata", doc, map[string]string{
		"view-uuid": "string", "format-version": "number", "location": "string", "schemas": "list", "current-version-id": "number",
		"versions": "list", "version-log": "list", "properties": "object?",
	})
	if raw, err := json.Marshal(doc); err != nil {
		p.add("metadata: %v", err)
	} else if _, err := view.ParseMetadataBytes(raw); err != nil {
		p.add("iceberg-go cannot read the view's metadata: %v", err)
	}
}
