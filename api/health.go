package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// checkTimeout bounds all readiness checks together.
const checkTimeout = 2 * time.Second

// Check is one thing the process cannot serve without.
type Check struct {
	Name string
	Run  func(context.Context) error
}

type healthAnswer struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
}

// Health answers 200 while the process runs.
func Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, http.StatusOK, healthAnswer{Status: "ok"})
	})
}

// Ready answers 200 when every check passes, else 503 with the names of those that do not; causes are not shown,
// because the route needs no token.
func Ready(checks ...Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
		defer cancel()
		status, body := http.StatusOK, healthAnswer{Status: "ready", Checks: make(map[string]string, len(checks))}
		for _, check := range checks {
			body.Checks[check.Name] = "ok"
			if err := check.Run(ctx); err != nil {
				status, body.Status, body.Checks[check.Name] = http.StatusServiceUnavailable, "not ready", "failing"
			}
		}
		writeHealth(w, status, body)
	})
}

func writeHealth(w http.ResponseWriter, status int, body healthAnswer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone when it fails
}
