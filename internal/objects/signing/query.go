package signing

import (
	"net/url"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

const maxParameters = 32

// parameter is one of a query, decoded once.
type parameter struct {
	name, value string
	bare        bool // it came without an equals sign
}

// query is a request's parameters in the order they came.
type query []parameter

// readQuery reads a raw query. No name may come twice: stores differ in which they take.
func readQuery(raw string) (query, error) {
	if raw == "" {
		return nil, nil
	}
	parts := strings.Split(raw, "&")
	if len(parts) > maxParameters {
		return nil, fault.New(fault.Invalid, "The request has more than %d query parameters.", maxParameters)
	}
	q := make(query, 0, len(parts))
	for _, part := range parts {
		rawName, rawValue, valued := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		value, err2 := url.QueryUnescape(rawValue)
		if err != nil || err2 != nil || name == "" || strings.Contains(part, ";") {
			return nil, fault.New(fault.Invalid, "The request's query is not valid: each parameter is a percent-encoded name=value.")
		}
		if q.has(name) {
			return nil, fault.New(fault.Invalid, "The request has a query parameter twice.")
		}
		q = append(q, parameter{name: name, value: value, bare: !valued})
	}
	return q, nil
}

// value gives a parameter and whether it is there.
func (q query) value(name string) (string, bool) {
	for _, p := range q {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}

func (q query) has(name string) bool {
	_, found := q.value(name)
	return found
}

// with gives the query with another value of a parameter.
func (q query) with(name, value string) query {
	changed := make(query, len(q))
	copy(changed, q)
	for i := range changed {
		if changed[i].name == name {
			changed[i].value = value
		}
	}
	return changed
}

// encoded gives the query as it is to be sent.
func (q query) encoded() string {
	if len(q) == 0 {
		return ""
	}
	var b strings.Builder
	for i, p := range q {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(encode(p.name, false))
		if !p.bare {
			b.WriteByte('=')
			b.WriteString(encode(p.value, false))
		}
	}
	return b.String()
}

// names gives the parameters' names for a message.
func (q query) names() string {
	if len(q) == 0 {
		return ""
	}
	names := make([]string, len(q))
	for i, p := range q {
		names[i] = p.name
	}
	return "?" + strings.Join(names, "&")
}
