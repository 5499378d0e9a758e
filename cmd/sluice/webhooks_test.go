package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWebhookLinesBecomeRequests(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"webhooks list": "GET /governance/v1/webhooks?limit=50",
		"webhooks create pager https://example.com/h":                                        `POST /governance/v1/webhooks {"name":"pager","url":"https://example.com/h"}`,
		"webhooks create p https://e.x/ --type finding.* --type token.minted --catalog lake": `POST /governance/v1/webhooks {"name":"p","url":"https://e.x/","types":["finding.*","token.minted"],"catalog":"lake"}`,
		"webhooks show w1": "GET /governance/v1/webhooks/w1",
		"webhooks update w1 --name n --url https://e/": `PUT /governance/v1/webhooks/w1 {"name":"n","url":"https://e/"}`,
		"webhooks update w1 --catalog= --all-types":    `PUT /governance/v1/webhooks/w1 {"catalog":"","types":[]}`,
		"webhooks update w1 --type a.b --disable":      `PUT /governance/v1/webhooks/w1 {"types":["a.b"],"disabled":true}`,
		"webhooks update w1 --enable --rotate-secret":  `PUT /governance/v1/webhooks/w1 {"disabled":false,"rotateSecret":true}`,
		"webhooks delete w1":                           "DELETE /governance/v1/webhooks/w1",
		"webhooks deliveries w1 --state dead":          "GET /governance/v1/webhooks/w1/deliveries?limit=50&state=dead",
		"webhooks replay w1 --dead":                    `POST /governance/v1/webhooks/w1/replay {"state":"dead"}`,
		"webhooks replay w1 --since 7d":                `POST /governance/v1/webhooks/w1/replay {"since":"7d"}`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r, env := record(t, map[string]string{})
			code, out, errOut := command(env, strings.Fields(line)...)
			require.Equal(t, exitOK, code, out+errOut)
			require.Len(t, r.asked, 1)
			assertRequest(t, want, r.asked[0])
		})
	}
}

func TestWebhookLinesThatAreWrong(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"webhooks create pager":                   "URL",
		"webhooks update w1":                      "nothing is to be changed",
		"webhooks update w1 --enable --disable":   "exclude each other",
		"webhooks update w1 --type a --all-types": "exclude each other",
		"webhooks replay w1":                      "either --dead or --since",
		"webhooks replay w1 --dead --since 1h":    "either --dead or --since",
	} {
		r, env := record(t, nil)
		code, _, errOut := command(env, strings.Fields(line)...)
		assert.Equal(t, exitUsage, code, line)
		assert.Contains(t, errOut, want, line)
		assert.Empty(t, r.asked, line)
	}
}

// A test of a webhook fails where its receiver does, and says what that said.
func TestWebhooksTestTellsHowItWent(t *testing.T) {
	t.Parallel()
	const route = "POST /governance/v1/webhooks/w1/test"
	_, env := record(t, map[string]string{route: `{"eventId":"e","ok":true,"status":200,"tookMs":12}`})
	code, out, errOut := command(env, "webhooks", "test", "w1")
	require.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `ok +yes`, out)
	_, env = record(t, map[string]string{route: `{"eventId":"e","ok":false,"status":502,"problem":"answered 502 Bad Gateway","tookMs":12}`})
	code, out, errOut = command(env, "webhooks", "test", "w1")
	assert.Equal(t, exitFailed, code)
	assert.Regexp(t, `ok +no`, out)
	assertOneSentence(t, errOut, "answered 502 Bad Gateway")
}

func TestWebhookSecretIsShown(t *testing.T) {
	t.Parallel()
	_, env := record(t, map[string]string{
		"POST /governance/v1/webhooks": `{"id":"w1","name":"p","url":"https://e.x/","types":[],"catalog":"","disabled":false,"pending":0,"dead":0,"secret":"whsec_abc="}`,
	})
	code, out, errOut := command(env, "webhooks", "create", "p", "https://e.x/")
	require.Equal(t, exitOK, code, errOut)
	assert.Contains(t, out, "whsec_abc=")
}
