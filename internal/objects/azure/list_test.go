package azure

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

// listing answers List Blobs from the names, in their order, with opaque markers. Azurite has no hierarchical accounts.
type listing struct {
	names    []string // one that ends with a slash stands for a folder, as such accounts show them
	requests int
	forgets  bool // its markers end when they were given
}

func (l *listing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.requests++
	q, from := r.URL.Query(), 0
	if marker := q.Get("marker"); marker != "" {
		if l.forgets {
			w.Header().Set("x-ms-error-code", "OutOfRangeQueryParameterValue")
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		from, _ = strconv.Atoi(strings.TrimPrefix(marker, "opaque-"))
	}
	limit, _ := strconv.Atoi(q.Get("maxresults"))
	_, _ = fmt.Fprint(w, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>`)
	next := ""
	for i := from; i < len(l.names); i++ {
		if i == from+limit {
			next = "opaque-" + strconv.Itoa(i)
			break
		}
		name, folder := strings.CutSuffix(l.names[i], "/")
		if !strings.HasPrefix(name, q.Get("prefix")) {
			continue
		}
		_, _ = fmt.Fprint(w, "<Blob><Name>")
		_ = xml.EscapeText(w, []byte(name))
		_, _ = fmt.Fprint(w, "</Name><Properties><Content-Length>1</Content-Length></Properties>")
		if folder {
			_, _ = fmt.Fprint(w, "<Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>")
		}
		_, _ = fmt.Fprint(w, "</Blob>")
	}
	_, _ = fmt.Fprintf(w, "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", next)
}

// at makes a store of the account that the handler is.
func at(t *testing.T, hierarchical bool, handler http.Handler) *Store {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s, err := New(Config{Endpoint: server.URL + "/" + testAccount, AccountKey: "a2V5", Hierarchical: hierarchical}, parse(t, lake))
	require.NoError(t, err)
	return s
}

// pages reads all pages, each by a store of its own where they are not to remember.
func pages(t *testing.T, s *Store, limit int, forgetful bool) ([]string, error) {
	t.Helper()
	var got []string
	for after := ""; ; {
		if forgetful {
			s = &Store{account: s.account, order: s.order}
		}
		page, err := s.List(t.Context(), lake+"/wh", after, limit)
		if err != nil || len(page) == 0 {
			return got, err
		}
		for _, info := range page {
			got = append(got, strings.TrimPrefix(info.Location, lake+"/"))
		}
		after = page[len(page)-1].Location
		require.Less(t, len(got), 100)
	}
}

func TestListGoesOnWhereItWas(t *testing.T) {
	flat := []string{"wh/a.txt", "wh/a/b", "wh/a/b2", "wh/a0", "wh/b"}
	hierarchical := []string{"wh/", "wh/a/", "wh/a/b", "wh/a/b2", "wh/a.txt", "wh/a0", "wh/b/", "wh/b/c/", "wh/b/c/d", "wh/b-1"}
	for name, c := range map[string]struct {
		names        []string
		hierarchical bool
	}{"flat": {flat, false}, "hierarchical": {hierarchical, true}} {
		var want []string
		for _, n := range c.names {
			if !strings.HasSuffix(n, "/") {
				want = append(want, n)
			}
		}
		for limit := range 12 {
			for _, forgets := range []bool{false, true} {
				for _, forgetful := range []bool{false, true} {
					s := at(t, c.hierarchical, &listing{names: c.names, forgets: forgets && limit >= len(c.names)})
					got, err := pages(t, s, limit, forgetful)
					require.NoError(t, err)
					assert.Equal(t, want, got, "%s in pages of %d", name, limit)
				}
			}
		}
	}
}

func TestListReadsEachNameOnce(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("wh/%02d", i))
	}
	l := &listing{names: names}
	got, err := pages(t, at(t, false, l), 10, false)
	require.NoError(t, err)
	assert.Len(t, got, 60)
	assert.LessOrEqual(t, l.requests, 8, "pages go on by Azure's markers")
}

func TestListGoesOnWhenAzureForgotTheMarker(t *testing.T) {
	l := &listing{names: []string{"wh/a", "wh/b", "wh/c"}}
	s := at(t, false, l)
	first, err := s.List(t.Context(), lake+"/wh", "", 1)
	require.NoError(t, err)
	l.forgets = true
	second, err := s.List(t.Context(), lake+"/wh", first[0].Location, 1)
	require.NoError(t, err)
	assert.Equal(t, lake+"/wh/b", second[0].Location)
}

// A wrong word on the kind of account must not have files passed over.
func TestListNoticesTheOtherOrder(t *testing.T) {
	s := at(t, false, &listing{names: []string{"wh/a/", "wh/a/b", "wh/a.txt", "wh/c"}})
	_, err := s.List(t.Context(), lake+"/wh", lake+"/wh/a/b", 10)
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.Contains(t, fault.PublicMessage(err), "hierarchical=true")
}

func TestMarkersForgetTheOldest(t *testing.T) {
	var m markers
	loc := parse(t, lake)
	for i := range 2 * maxMarkers {
		m.keep(loc, strconv.Itoa(i), "m")
	}
	assert.Len(t, m.byPage, maxMarkers)
	assert.Equal(t, "m", m.of(loc, strconv.Itoa(2*maxMarkers-1)))
	assert.Empty(t, m.of(loc, "0"))
}

func TestOrderOfAHierarchicalAccount(t *testing.T) {
	names := []string{"a/b/c", "a/b-/c", "a/b.c", "a/bc", "a b", "a-b", "a.b", "ab"}
	sorted := slices.Clone(names)
	slices.Reverse(sorted)
	slices.SortFunc(sorted, order{hierarchical: true}.compare)
	assert.Equal(t, names, sorted)
	assert.Negative(t, order{}.compare("a.b", "a/b"))
}
