package api_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

// webhookStage is a stage with the real use cases of webhooks, for somebody who administers the installation.
func webhookStage(t *testing.T) *stage {
	t.Helper()
	var service webhooks.Service
	s := newStage(t, func(d *api.Deps) { d.Governance.Webhooks = &service })
	s.held = policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	service = *webhooks.New(webhooks.Deps{
		Store: s.store, Catalogs: s.store, Sealer: ring.For("webhooks"), Sender: webhooks.NewSender(webhooks.SenderOptions{Private: true, Now: time.Now}),
		Source: "https://sluice.example", Private: true, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	return s
}

func (s *stage) call(method, path, body string) (status int, answer map[string]any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+governancePath+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer good")
	got, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(s.t, err)
	if len(text) > 0 {
		require.NoError(s.t, json.Unmarshal(text, &answer), string(text))
	}
	return got.StatusCode, answer
}

func TestWebhookRoutes(t *testing.T) {
	t.Parallel()
	s := webhookStage(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("thanks")) }))
	t.Cleanup(receiver.Close)
	status, made := s.call("POST", "/webhooks", `{"name":"pager","url":"`+receiver.URL+`","types":["finding.*"]}`)
	require.Equal(t, 201, status, made)
	id := made["id"].(string)
	require.Regexp(t, "^whsec_", made["secret"])
	require.Equal(t, []any{"pager", receiver.URL, []any{"finding.*"}, "", false, "ada"},
		[]any{made["name"], made["url"], made["types"], made["catalog"], made["disabled"], made["createdBy"]})

	_, shown := s.call("GET", "/webhooks/"+id, "")
	require.NotContains(t, shown, "secret", "it is shown once")
	_, list := s.call("GET", "/webhooks?limit=1", "")
	require.Equal(t, id, list["next"])
	require.Equal(t, shown, list["items"].([]any)[0])
	_, rest := s.call("GET", "/webhooks?after="+id, "")
	require.Equal(t, map[string]any{"items": []any{}}, rest)

	status, changed := s.call("PUT", "/webhooks/"+id, `{"name":"pagers","types":[],"rotateSecret":true}`)
	require.Equal(t, 200, status)
	require.Equal(t, []any{"pagers", []any{}, receiver.URL}, []any{changed["name"], changed["types"], changed["url"]})
	require.NotEqual(t, made["secret"], changed["secret"])

	status, test := s.call("POST", "/webhooks/"+id+"/test", "")
	require.Equal(t, 200, status)
	require.Equal(t, []any{true, 200.0, "thanks"}, []any{test["ok"], test["status"], test["body"]})

	s.happen(models.AuditTokenMinted, "main", "", "ada")
	_, err := s.store.FanOut(t.Context(), id, 100)
	require.NoError(t, err)
	_, deliveries := s.call("GET", "/webhooks/"+id+"/deliveries?state=pending", "")
	items := deliveries["items"].([]any)
	require.Len(t, items, 3, "of its making, its change and the token")
	first := items[0].(map[string]any)
	require.Equal(t, []any{"token.minted", "pending", 0.0, nil}, []any{first["type"], first["state"], first["attempts"], first["lastStatus"]})
	require.NotNil(t, first["nextAt"])
	_, dead := s.call("GET", "/webhooks/"+id+"/deliveries?state=dead", "")
	require.Empty(t, dead["items"])

	_, replayed := s.call("POST", "/webhooks/"+id+"/replay", `{"since":"1h"}`)
	require.Equal(t, map[string]any{"deliveries": 3.0}, replayed)
	_, replayed = s.call("POST", "/webhooks/"+id+"/replay", `{"state":"dead"}`)
	require.Equal(t, map[string]any{"deliveries": 0.0}, replayed)

	status, _ = s.call("DELETE", "/webhooks/"+id, "")
	require.Equal(t, 204, status)
	status, _ = s.call("GET", "/webhooks/"+id, "")
	require.Equal(t, 404, status)
}

func TestWebhookRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	s := webhookStage(t)
	_, made := s.call("POST", "/webhooks", `{"name":"a","url":"https://example.com/"}`)
	at := "/webhooks/" + made["id"].(string)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/webhooks", ``, 400, "empty"},
		{"POST", "/webhooks", `{}`, 400, `"name"`},
		{"POST", "/webhooks", `{"name":"b"}`, 400, `"url"`},
		{"POST", "/webhooks", `{"name":"b","url":"ftp://x"}`, 400, "https://"},
		{"POST", "/webhooks", `{"name":"b","url":7}`, 400, "a string"},
		{"POST", "/webhooks", `{"name":"b","url":"https://example.com/","types":"finding.*"}`, 400, "a list of strings"},
		{"POST", "/webhooks", `{"name":"b","url":"https://example.com/","types":["finding"]}`, 400, `"finding"`},
		{"POST", "/webhooks", `{"name":"b","url":"https://example.com/","secret":"x"}`, 400, "unknown"},
		{"POST", "/webhooks", `{"name":"b","url":"https://example.com/","rotateSecret":true}`, 400, "unknown"},
		{"POST", "/webhooks", `{"name":"a","url":"https://example.com/"}`, 409, "exists already"},
		{"POST", "/webhooks", `{"name":"b","url":"https://example.com/","catalog":"lake"}`, 400, "no such catalog"},
		{"PUT", at, `{"disabled":"yes"}`, 400, "true or false"},
		{"PUT", "/webhooks/none", `{"disabled":true}`, 404, "no webhook"},
		{"DELETE", "/webhooks/none", ``, 404, "no webhook"},
		{"POST", "/webhooks/none/test", ``, 404, "no webhook"},
		{"GET", "/webhooks/none/deliveries", ``, 404, "no webhook"},
		{"GET", at + "/deliveries?state=gone", ``, 400, "pending, delivered or dead"},
		{"GET", at + "/deliveries?type=x", ``, 400, "unknown"},
		{"GET", "/webhooks?limit=0", ``, 400, "limit"},
		{"POST", at + "/replay", `{}`, 400, "since"},
		{"POST", at + "/replay", `{"since":"1h","state":"dead"}`, 400, "since"},
		{"POST", at + "/replay", `{"since":"yesterday"}`, 400, "RFC 3339"},
		{"POST", at + "/replay", `{"state":"pending"}`, 400, "must be dead"},
	} {
		status, answer := s.call(c.method, c.path, c.body)
		assert.Equal(t, c.status, status, c)
		assert.Contains(t, answer["error"].(map[string]any)["message"], c.want, c)
	}
	s.held = policy.NewHeld(nil, nil)
	for _, route := range []string{"GET /webhooks", "POST /webhooks", "GET " + at, "PUT " + at, "DELETE " + at, "POST " + at + "/test", "GET " + at + "/deliveries", "POST " + at + "/replay"} {
		method, path, _ := strings.Cut(route, " ")
		body := ""
		switch {
		case strings.HasSuffix(path, "/replay"):
			body = `{"state":"dead"}`
		case method == "POST" || method == "PUT":
			body = `{"name":"c","url":"https://example.com/"}`
		}
		status, _ := s.call(method, path, body)
		assert.Equal(t, 403, status, route)
	}
}
