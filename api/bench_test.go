package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sluice-data/sluice/api"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/metadata"
)

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkLoadTable loads a table with 10,000 snapshots through the whole router.
func BenchmarkLoadTable(b *testing.B) {
	doc, err := metadata.Parse(document(10_000))
	if err != nil {
		b.Fatal(err)
	}
	u := newUseCases()
	u.tables[tableKey(orders)] = core.TableView{Document: doc, MetadataLocation: ordersLocation}
	router := api.Router(deps(u, io.Discard))
	tag := get(router, "", "").Header().Get("ETag")
	for _, bench := range []struct{ name, query, header, value string }{
		{"all", "", "", ""},
		{"all-gzip", "", "Accept-Encoding", "gzip"},
		{"refs", "?snapshots=refs", "", ""},
		{"not-modified", "", "If-None-Match", tag},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := loadRequest(bench.query, bench.header, bench.value)
				router.ServeHTTP(&discard{header: http.Header{}}, r)
			}
		})
	}
}

func loadRequest(query, header, value string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, ordersPath+query, nil)
	r.Header.Set("Authorization", "Bearer good")
	if header != "" {
		r.Header.Set(header, value)
	}
	return r
}

func get(router http.Handler, header, value string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	router.ServeHTTP(w, loadRequest("", header, value))
	return w
}
