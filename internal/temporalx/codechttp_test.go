package temporalx

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
)

// The handler is asked the way that Temporal's own tools ask it.
func TestCodecHandler(t *testing.T) {
	server := httptest.NewServer(http.StripPrefix("/api/temporal/codec", CodecHandler(ringOf(t, "k1"))))
	defer server.Close()
	endpoint := server.URL + "/api/temporal/codec"
	tool := converter.NewRemoteDataConverter(converter.GetDefaultDataConverter(), converter.RemoteDataConverterOptions{Endpoint: endpoint})
	ours, _ := EncryptedConverters(ringOf(t, "k1"))

	sealed, err := ours.ToPayload("quokka")
	require.NoError(t, err)
	require.Equal(t, `"quokka"`, tool.ToString(sealed))
	clear, err := converter.GetDefaultDataConverter().ToPayload("wombat")
	require.NoError(t, err)
	require.Equal(t, `"wombat"`, tool.ToString(clear), "a history may be of before")

	signal, err := tool.ToPayload("asked by hand")
	require.NoError(t, err)
	var got string
	require.NoError(t, ours.FromPayload(signal, &got))
	require.Equal(t, "asked by hand", got)
	require.Equal(t, "binary/encrypted", string(signal.GetMetadata()["encoding"]))

	others, _ := EncryptedConverters(ringOf(t, "k2"))
	foreign, err := others.ToPayload("quokka")
	require.NoError(t, err)
	raw, err := protojson.Marshal(foreign)
	require.NoError(t, err)
	for body, want := range map[string]string{
		`{"payloads":[` + string(raw) + `]}`:             `"k2"`,
		`{"payloads":`:                                   "",
		`{"payloads":"` + strings.Repeat("x", codecBody): "too large",
	} {
		resp := httptest.NewRecorder()
		CodecHandler(ringOf(t, "k1")).ServeHTTP(resp, httptest.NewRequest(http.MethodPost, "/decode", strings.NewReader(body)))
		require.Equal(t, http.StatusBadRequest, resp.Code)
		require.Contains(t, resp.Body.String(), want)
		require.Equal(t, "no-store", resp.Header().Get("Cache-Control"))
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodGet, "/decode", nil), httptest.NewRequest(http.MethodPost, "/", nil),
	} {
		resp := httptest.NewRecorder()
		CodecHandler(ringOf(t, "k1")).ServeHTTP(resp, r)
		require.Equal(t, http.StatusNotFound, resp.Code)
	}
}

func TestAllowOrigin(t *testing.T) {
	const ui = "https://temporal.example.com"
	denied := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	for name, c := range map[string]struct {
		configured, method, origin, asks string
		status                           int
		allowed                          bool
	}{
		"a preflight of the UI's":   {ui, http.MethodOptions, ui, http.MethodPost, http.StatusNoContent, true},
		"with a slash too many":     {ui + "/", http.MethodOptions, ui, http.MethodPost, http.StatusNoContent, true},
		"a call of the UI's":        {ui, http.MethodPost, ui, "", http.StatusUnauthorized, true},
		"a preflight of another's":  {ui, http.MethodOptions, ui + ".evil.example", http.MethodPost, http.StatusUnauthorized, false},
		"a call of another's":       {ui, http.MethodPost, "https://evil.example", "", http.StatusUnauthorized, false},
		"a call of the CLI's":       {ui, http.MethodPost, "", "", http.StatusUnauthorized, false},
		"OPTIONS that asks nothing": {ui, http.MethodOptions, ui, "", http.StatusUnauthorized, true},
		"no origin is allowed":      {"", http.MethodOptions, ui, http.MethodPost, http.StatusUnauthorized, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/api/temporal/codec/decode", nil)
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.asks != "" {
				r.Header.Set("Access-Control-Request-Method", c.asks)
			}
			resp := httptest.NewRecorder()
			AllowOrigin(c.configured, denied).ServeHTTP(resp, r)
			require.Equal(t, c.status, resp.Code)
			want := ""
			if c.allowed {
				want = ui
			}
			require.Equal(t, want, resp.Header().Get("Access-Control-Allow-Origin"))
			if c.status == http.StatusNoContent {
				for _, header := range []string{"Authorization", "Content-Type", "X-Namespace"} { // what the UI sends
					require.Contains(t, resp.Header().Get("Access-Control-Allow-Headers"), header)
				}
				require.Equal(t, "POST", resp.Header().Get("Access-Control-Allow-Methods"))
			}
		})
	}
}
