package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDefaultClassificationsAreShownAndSet(t *testing.T) {
	t.Parallel()
	const ofNamespace, ofCatalog = "/governance/v1/namespaces/main.crm/default-classification", "/governance/v1/catalogs/main/default-classification"
	r, env := record(t, map[string]string{
		"GET " + ofNamespace: `{"ref":"main.crm","level":"confidential","inherited":true}`,
		"PUT " + ofNamespace: `{"ref":"main.crm","level":"restricted","inherited":false}`,
		"GET " + ofCatalog:   `{"ref":"main","level":"confidential","inherited":false}`,
	})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"main.crm"}, "confidential (inherited)\n"},
		{[]string{"main"}, "confidential\n"},
		{[]string{"main.crm", "restricted"}, "main.crm: restricted\n"},
	} {
		code, out, errOut := command(env, append([]string{"classification", "default"}, c.args...)...)
		assert.Equal(t, exitOK, code, errOut)
		assert.Equal(t, c.want, out)
	}
	assert.Equal(t, []string{"GET " + ofNamespace, "GET " + ofCatalog, "PUT " + ofNamespace + ` {"level":"restricted"}`}, r.asked)

	code, _, errOut := command(env, "classification", "default", "main", "secret")
	assert.Equal(t, exitUsage, code)
	assertOneSentence(t, errOut, "public, internal, confidential, restricted")
	assert.Len(t, r.asked, 3, "nobody is asked for a level that is none")
}

func TestRowFiltersAreShownAndSet(t *testing.T) {
	t.Parallel()
	const all = "GET /governance/v1/tables/main.a.b/row-filters"
	r, env := record(t, map[string]string{
		all: `{"items":[{"role":"eu analysts","filter":"region = 'EU'","expression":{"type":"eq","term":"region","value":"EU"}},{"role":"auditors","filter":"TRUE","expression":true}]}`,
		"PUT /governance/v1/tables/main.a.b/row-filters/eu%20analysts": `{"role":"eu analysts","filter":"region = 'EU'","expression":true}`,
	})
	code, out, errOut := command(env, "row-filters", "list", "main.a.b")
	assert.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `(?m)^eu analysts +region = 'EU'$`, out)
	assert.Regexp(t, `(?m)^auditors +TRUE$`, out)
	code, out, _ = command(env, "row-filters", "list", "main.a.b", "-o", "json")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, `"term": "region"`)

	code, out, errOut = command(env, "row-filters", "set", "main.a.b", "eu analysts", "region = 'EU'")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "eu analysts sees the rows of main.a.b where region = 'EU'\n", out)
	code, out, errOut = command(env, "row-filters", "remove", "main.a.b", "auditors")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "The row filter of auditors on main.a.b is removed.\n", out)
	assert.Equal(t, []string{
		all, all, `PUT /governance/v1/tables/main.a.b/row-filters/eu%20analysts {"filter":"region = 'EU'"}`,
		`DELETE /governance/v1/tables/main.a.b/row-filters/auditors`,
	}, r.asked)
}

func TestATableWithoutRowFiltersSaysSo(t *testing.T) {
	t.Parallel()
	_, env := record(t, map[string]string{"GET /governance/v1/tables/main.a.b/row-filters": `{"items":[]}`})
	code, out, errOut := command(env, "row-filters", "list", "main.a.b")
	assert.Equal(t, exitOK, code)
	assert.Empty(t, out)
	assert.Equal(t, "No row filters.\n", errOut)
}
