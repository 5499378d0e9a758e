package api

import (
	"encoding/json"
	"net/http"
)

// documentation is where the pages about Sluice are.
const documentation = "https://github.com/sluice-data/sluice/tree/main/docs"

// indexAnswer tells who came to the address alone where to go on. Addresses are paths: a proxy may know the host by
// another name.
type indexAnswer struct {
	Service       string `json:"service"`
	Catalog       string `json:"catalog,omitempty"`    // of the Iceberg REST catalog; clients add /v1
	Governance    string `json:"governance,omitempty"` // of the governance API
	Management    string `json:"management,omitempty"` // of the management API, as Polaris's command line wants it
	Data          string `json:"data,omitempty"`       // of the data plane
	Keys          string `json:"keys,omitempty"`       // of access tokens
	Health        string `json:"health"`
	Ready         string `json:"ready"`
	Metrics       string `json:"metrics"`
	Documentation string `json:"documentation"`
}

// Index answers for the address alone of a process that serves the API.
func Index() http.Handler {
	return index(indexAnswer{Service: "sluice", Catalog: CatalogPath, Governance: GovernancePath, Management: ManagementPath, Data: DataPath, Keys: KeysPath})
}

// ProbesIndex answers for the address alone of a process that has no API.
func ProbesIndex(service string) http.Handler { return index(indexAnswer{Service: service}) }

func index(answer indexAnswer) http.Handler {
	answer.Health, answer.Ready, answer.Metrics, answer.Documentation = "/healthz", "/readyz", "/metrics", documentation
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // the client is gone when it fails
	})
}
