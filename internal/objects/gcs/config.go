package gcs

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// Config says how Google Cloud Storage is reached. Without a service key, Sluice signs in with what the surroundings have:
// GOOGLE_APPLICATION_CREDENTIALS, the gcloud tool's file, or the machine's own service account. That identity is shown to
// Google's own hosts alone: a token that another host gets would open all that Sluice may.
type Config struct {
	Endpoint string // of another server than Google's, such as http://127.0.0.1:4443; http is for this machine alone
	// Anonymous signs in with nothing, as servers for tests want it. They make no keys for engines.
	Anonymous bool

	ServiceKey     string // JSON of a service account's key
	ServiceAccount string // e-mail of a service account to act as; "" for the one that signs in
	ProjectID      string // told to engines; "" for the service key's
}

// LogValue keeps the key out of logs.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(slog.String("endpoint", c.Endpoint), slog.String("serviceAccount", c.ServiceAccount), slog.String("projectId", c.ProjectID))
}

// String keeps the key out of printed configurations.
func (c Config) String() string { return c.LogValue().String() }

// GoString keeps the key out of %#v.
func (c Config) GoString() string { return c.String() }

// Opener gives what objects.Config.Clouds wants for "gs".
func Opener(c Config) objects.OpenFunc {
	return func(ctx context.Context, root objects.Location) (objects.Store, error) {
		store, err := New(ctx, c, root)
		if err != nil {
			return nil, err // not a Store that holds no *Store
		}
		return store, nil
	}
}

// check finds what is wrong with the configuration.
func (c Config) check(root objects.Location) error {
	if !root.IsGCS() {
		return fault.New(fault.Invalid, "Storage root %s is not in Google Cloud Storage. Use one such as gs://bucket/path.", root)
	}
	if err := c.checkKey(); err != nil || c.Endpoint == "" {
		return err
	}
	return c.checkEndpoint()
}

func (c Config) checkEndpoint() error {
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil || u.RawQuery != "" || (u.Path != "" && u.Path != "/") {
		return fault.New(fault.Invalid, "The endpoint of Google Cloud Storage is not valid. Use a URL of scheme and host alone, such as https://storage.googleapis.com.")
	}
	if c.ServiceKey == "" && !c.Anonymous && !googles(u) {
		return fault.New(fault.Invalid, "Sluice shows the identity of its machine to Google's own hosts alone, and the endpoint of Google Cloud Storage is none. Give a service account's key.")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return fault.New(fault.Invalid, "The endpoint of Google Cloud Storage is http. Use https: http is for a server on this machine alone.")
	}
	return nil
}

// checkKey looks at the service key alone: the machine's own identity is looked for when it is needed.
func (c Config) checkKey() error {
	if c.ServiceKey == "" {
		return nil
	}
	if c.Anonymous {
		return fault.New(fault.Invalid, "The storage has a service account's key and is to be reached anonymously. Choose one.")
	}
	var key struct {
		Type  string `json:"type"`
		Email string `json:"client_email"`
		Token string `json:"token_uri"`
	}
	if err := json.Unmarshal([]byte(c.ServiceKey), &key); err != nil || key.Type != "service_account" || key.Email == "" {
		return fault.New(fault.Invalid, "The key for Google Cloud Storage is not that of a service account. Give the JSON file that Google made for it, whole.") // err may quote the key
	}
	if u, err := url.Parse(key.Token); key.Token != "" && (err != nil || !googles(u)) {
		return fault.New(fault.Invalid, "The token_uri in the service account's key is not one of Google's. Give the JSON file as Google made it.")
	}
	return nil
}

// googles tells whether a URL is of one of Google's own services.
func googles(u *url.URL) bool {
	return u.Scheme == "https" && u.User == nil && (strings.HasSuffix(u.Hostname(), ".googleapis.com") || u.Hostname() == "accounts.google.com")
}

// endpoint gives the URL of the JSON API.
func (c Config) endpoint() string {
	host := c.Endpoint
	if host == "" {
		host = "https://storage.googleapis.com"
	}
	return strings.TrimSuffix(host, "/") + "/storage/v1/"
}

// project gives the project to tell engines, "" where none is known.
func (c Config) project() string {
	var key struct {
		Project string `json:"project_id"`
	}
	if c.ProjectID == "" && c.ServiceKey != "" && json.Unmarshal([]byte(c.ServiceKey), &key) == nil {
		return key.Project
	}
	return c.ProjectID
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
