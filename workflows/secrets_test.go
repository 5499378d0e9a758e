package workflows_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// secretShapes is what no history, id, memo or search attribute may hold: whoever may look at Temporal sees them all, and
// they outlive what they were about.
func secretShapes() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"a token of Sluice's":     regexp.MustCompile(`\bsl[a-z]_[A-Za-z0-9_-]{6}`),
		"a JWT":                   regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.`),
		"an AWS access key":       regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`),
		"an AWS secret key":       regexp.MustCompile(`(^|[^A-Za-z0-9/+])[A-Za-z0-9/+]{40}($|[^A-Za-z0-9/+=])`),
		"a key in PEM":            regexp.MustCompile(`-----BEGIN `),
		"a SHA-256":               regexp.MustCompile(`(?i)\b[0-9a-f]{64}\b`),
		"32 bytes in base64":      regexp.MustCompile(`(^|[^A-Za-z0-9/+_-])[A-Za-z0-9/+_-]{43}=($|[^=])`),
		"an Authorization header": regexp.MustCompile(`(?i)\b(bearer|basic) [A-Za-z0-9._~+/-]{8}`),
		"the word for a secret":   regexp.MustCompile(`(?i)secret|passw|credential|private.?key|api.?key`),
	}
}

// secretFinder collects the shapes that it is shown.
type secretFinder struct {
	shapes map[string]*regexp.Regexp
	found  map[string]bool
}

// secretsIn finds the shapes in a JSON document: in its keys and strings, and in what is encoded in them, however deep.
func secretsIn(t testing.TB, shapes map[string]*regexp.Regexp, document []byte) []string {
	t.Helper()
	var tree any
	require.NoError(t, json.Unmarshal(document, &tree))
	f := secretFinder{shapes, map[string]bool{}}
	walkStrings(tree, f.look)
	return slices.Sorted(maps.Keys(f.found))
}

func walkStrings(v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			visit(key)
			walkStrings(value, visit)
		}
	case []any:
		for _, value := range v {
			walkStrings(value, visit)
		}
	case string:
		visit(v)
	}
}

func (f secretFinder) look(s string) {
	inner, encoded := decode(s)
	if encoded {
		f.look(inner)
	}
	var tree any
	if strings.ContainsAny(s, `{["`) && json.Unmarshal([]byte(s), &tree) == nil {
		walkStrings(tree, f.look)
	}
	if encoded && isText(inner) {
		return // what the letters of the encoding look like says nothing
	}
	for name, shape := range f.shapes {
		if shape.MatchString(s) {
			f.found[name] = true
		}
	}
}

func decode(s string) (string, bool) {
	if len(s) < 4 {
		return "", false
	}
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	raw, err := base64.RawStdEncoding.DecodeString(plain)
	return string(raw), err == nil
}

func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0
}

// TestRecordedHistoriesHoldNoSecret looks at what every kind of workflow leaves behind; see testdata/README.md.
func TestRecordedHistoriesHoldNoSecret(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	shapes := secretShapes()
	for _, file := range files {
		document, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, secretsIn(t, shapes, document), file)
	}
}

// TestSecretsAreFound plants each shape in each place of a real history, so that the test above is worth something.
func TestSecretsAreFound(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("testdata", "histories", "ReconcileCommit.v1.append.json"))
	require.NoError(t, err)
	encode, shapes := base64.StdEncoding.EncodeToString, secretShapes()
	planted := map[string]string{
		"an engine token":       "slc_9vXo2mQ8sT4kLpZr",
		"an old access token":   "sla_9vXo2mQ8sT4kLpZr",
		"a JWT":                 "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJyb290In0.c2lnbmF0dXJl",
		"an AWS access key":     "AKIAQQQQ7777WWWW3333",
		"an AWS temporary key":  "ASIAQQQQ7777WWWW3333",
		"an AWS secret key":     "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",
		"a client secret named": `{"clientSecret":"x"}`,
		"a password in a URL":   "postgres://sluice@db/sluice?password=x",
		"a private key":         "-----BEGIN EC KEY-----\nMHcC\n",
		"a hash":                strings.Repeat("0123456789abcdef", 4),
		"an encryption key":     "2026-11-30-ab12:" + encode([]byte(strings.Repeat("\xfe\x01kq", 8))),
		"a header":              "Authorization: Bearer abcdefghijkl",
		"S3 credentials":        "s3.session-credentials",
	}
	places := map[string]func(attributes map[string]any, secret string){
		"the workflow's id": func(a map[string]any, s string) { a["workflowId"] = "sweep-catalog-" + s },
		"its input": func(a map[string]any, s string) {
			a["input"] = payloads(encode(mustJSON(t, map[string]any{"target": map[string]string{"tableName": s}})))
		},
		"an input of bytes":     func(a map[string]any, s string) { a["input"] = payloads(encode([]byte(s))) },
		"an encoded part of it": func(a map[string]any, s string) { a["input"] = payloads(encode(mustJSON(t, encode([]byte(s))))) },
		"JSON within its JSON": func(a map[string]any, s string) {
			a["input"] = payloads(encode(mustJSON(t, string(mustJSON(t, []string{s})))))
		},
		"its memo": func(a map[string]any, s string) {
			a["memo"] = map[string]any{"fields": map[string]any{"x": payload(encode(mustJSON(t, s)))}}
		},
		"a search attribute": func(a map[string]any, s string) {
			a["searchAttributes"] = map[string]any{"indexedFields": map[string]any{"SluiceTable": payload(encode(mustJSON(t, s)))}}
		},
		"the message of a failure": func(a map[string]any, s string) { a["continuedFailure"] = map[string]any{"message": "cannot: " + s} },
		"a name of a field":        func(a map[string]any, s string) { a[s] = true },
	}
	missing := maps.Clone(shapes)
	for what, secret := range planted {
		for where, plant := range places {
			var tree map[string]any
			require.NoError(t, json.Unmarshal(document, &tree))
			plant(tree["events"].([]any)[0].(map[string]any)["workflowExecutionStartedEventAttributes"].(map[string]any), secret)
			found := secretsIn(t, shapes, mustJSON(t, tree))
			require.NotEmpty(t, found, "%s in %s is not found", what, where)
			for _, name := range found {
				delete(missing, name)
			}
		}
	}
	require.Empty(t, missing, "nothing was planted for these")
}

func payloads(data string) any { return map[string]any{"payloads": []any{payload(data)}} }

func payload(data string) any { return map[string]any{"data": data} }

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}
