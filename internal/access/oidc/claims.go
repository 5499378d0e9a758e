package oidc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// claims is the payload of a token. Numbers are json.Number.
type claims map[string]any

func parseClaims(payload []byte) (claims, error) {
	decoder := json.NewDecoder(strings.NewReader(string(payload)))
	decoder.UseNumber()
	var c claims
	if err := decoder.Decode(&c); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) || c == nil {
		return nil, errors.New("the claims are not one JSON object")
	}
	return c, nil
}

// path leads to a claim, from the outermost object in.
type path []string

// parsePath reads names joined by dots, such as realm_access.roles, or a JSON pointer, such as /kubernetes.io/namespace.
func parsePath(text string) (path, error) {
	if !strings.HasPrefix(text, "/") {
		p := path(strings.Split(text, "."))
		for _, name := range p {
			if name == "" {
				return nil, fmt.Errorf("%q is no path to a claim: it has an empty name between its dots", text)
			}
		}
		return p, nil
	}
	p := path(strings.Split(text[1:], "/"))
	for i, name := range p {
		if name == "" || strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(name), "~") {
			return nil, fmt.Errorf("%q is no JSON pointer to a claim: write ~1 for a slash and ~0 for a tilde within a name", text)
		}
		p[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return p, nil
}

// String gives the path for people: names joined by dots.
func (p path) String() string { return strings.Join(p, ".") }

// find gives the claim at the path. A number leads into a list.
func (c claims) find(p path) (any, bool) {
	var at any = map[string]any(c)
	for _, name := range p {
		switch in := at.(type) {
		case map[string]any:
			value, ok := in[name]
			if !ok {
				return nil, false
			}
			at = value
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(in) {
				return nil, false
			}
			at = in[n]
		default:
			return nil, false
		}
	}
	return at, at != nil
}

// texts gives a claim that is a text or a list of texts, as a list. Absent is an empty one.
func (c claims) texts(p path) ([]string, error) {
	value, ok := c.find(p)
	if !ok {
		return nil, nil
	}
	switch v := value.(type) {
	case string:
		return []string{v}, nil
	case []any:
		all := make([]string, 0, len(v))
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("the claim %s lists something that is no text", p)
			}
			all = append(all, text)
		}
		return all, nil
	}
	return nil, fmt.Errorf("the claim %s is neither a text nor a list of texts", p)
}

// instant gives a claim that is a time, in seconds since 1970; nil when it is absent.
func (c claims) instant(name string) (*time.Time, error) {
	value, ok := c[name]
	if !ok {
		return nil, nil
	}
	number, ok := value.(json.Number)
	if !ok {
		return nil, fmt.Errorf("the claim %s is no time", name)
	}
	const endOfYear9999 = 253402300799
	seconds, err := number.Float64()
	if err != nil || seconds < 0 || seconds > endOfYear9999 {
		return nil, fmt.Errorf("the claim %s is no time", name)
	}
	at := time.Unix(int64(seconds), 0)
	return &at, nil
}

// meets tells whether the claim is one of the values, or a list with one of them. Numbers and truth values count by
// how JSON writes them.
func (c claims) meets(r requirement) bool {
	value, ok := c.find(r.claim)
	if !ok {
		return false
	}
	items, isList := value.([]any)
	if !isList {
		items = []any{value}
	}
	for _, item := range items {
		switch item.(type) {
		case string, bool, json.Number:
		default:
			continue
		}
		for _, wanted := range r.values {
			if fmt.Sprint(item) == wanted {
				return true
			}
		}
	}
	return false
}
