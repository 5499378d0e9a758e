package temporalx

import (
	"net/http"
	"strings"

	"go.temporal.io/sdk/converter"

	"github.com/sluice-data/sluice/internal/keyring"
)

// codecBody bounds a request to the codec, in bytes: Temporal itself takes 2 MiB a payload and 4 MiB a message.
const codecBody = 16 << 20

// CodecHandler decrypts and encrypts payloads for Temporal's CLI and Web UI, at paths that end in /decode and /encode.
// Whoever reaches it reads every history: mount it behind authentication. A payload under a key that is missing is 400
// with a sentence that names the key.
func CodecHandler(ring *keyring.Ring) http.Handler {
	h := converter.NewPayloadCodecHTTPHandler(newCodec(ring))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, codecBody)
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

// AllowOrigin lets pages of one origin, such as https://temporal.example.com, call h from a browser; the Web UI of Temporal
// does that with its own origin. Preflights have no credentials: this goes around the authentication, not inside it. With
// "" as origin it is h alone.
func AllowOrigin(origin string, h http.Handler) http.Handler {
	if origin == "" {
		return h
	}
	origin = strings.TrimRight(origin, "/")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Origin")
		if r.Header.Get("Origin") != origin {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Authorization-Extras, Content-Type, X-Namespace, Caller-Type")
		w.Header().Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	})
}
