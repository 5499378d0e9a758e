package signing

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sluice-data/sluice/models"
)

// FuzzSign: whatever is signed touches objects of the table alone, as a slow reader of the answer sees it.
func FuzzSign(f *testing.F) {
	for _, path := range []string{
		"/lake/wh/ns/t1/f", "/lake/wh/ns/t10/f", "/lake/wh/ns/t1/%2e%2e/t2", "/lake/wh/ns/t1/%252e", "/lake?list-type=2&prefix=wh/ns/t1",
		"/lake?list-type=2&prefix=wh/ns/t", "/lake?delete", "/lake/wh/ns/t1/f?uploadId=a", "/lake/wh/ns/t1//f", "/lake/wh%2fns/t1/f", "/lake//", "//lake/x",
	} {
		f.Add("GET", path, "", "")
		f.Add("PUT", path, "/lake/wh/ns/t1/g", "")
		f.Add("POST", path, "", deleteBody)
		f.Add("DELETE", path, "", "")
	}
	p, s := profile(), newSigner()
	f.Fuzz(func(t *testing.T, method, path, source, body string) {
		r := Request{Method: method, URI: store + path, Body: body, Headers: map[string][]string{}}
		if source != "" {
			r.Headers["x-amz-copy-source"] = []string{source}
		}
		signed, err := s.Sign(p, t1(full()), r)
		if err != nil {
			return
		}
		u, err := url.Parse(signed.URI)
		if err != nil {
			t.Fatalf("%q is no URI: %v", signed.URI, err)
		}
		if u.Scheme+"://"+u.Host != store {
			t.Fatalf("%q goes elsewhere", signed.URI)
		}
		bucket, key, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		switch {
		case bucket != "lake":
			t.Fatalf("%q is of another bucket", signed.URI)
		case key != "":
			inTable(t, key)
		case method == "GET" && !u.Query().Has("location"):
			if !strings.HasPrefix(u.Query().Get("prefix"), table+"/") {
				t.Fatalf("%q lists more than the table", signed.URI)
			}
		case method == "POST" && !strings.Contains(body, table+"/"):
			t.Fatalf("%q deletes nothing of the table", body)
		}
		if source != "" {
			decoded, err := url.PathUnescape(source)
			if err != nil {
				t.Fatal(err)
			}
			inTable(t, strings.TrimPrefix(strings.TrimPrefix(decoded, "/"), "lake/"))
		}
	})
}

// inTable checks a key segment by segment.
func inTable(t *testing.T, key string) {
	t.Helper()
	segments, want := strings.Split(strings.TrimSuffix(key, "/"), "/"), strings.Split(table, "/")
	if len(segments) < len(want) {
		t.Fatalf("key %q is above the table", key)
	}
	for i, segment := range segments {
		if i < len(want) && segment != want[i] || segment == "" || segment == "." || segment == ".." {
			t.Fatalf("key %q is not of the table", key)
		}
	}
}

// FuzzAreas compares the innermost area of a location with that of a slow reader, by segments.
func FuzzAreas(f *testing.F) {
	f.Add("a/b", "a/b/m", "a/b/m/d", "a/b/m/x")
	f.Add("a", "ab", "a/b", "a/bc/d")
	f.Add("a/b", "a/b", "", "a/b")
	f.Fuzz(func(t *testing.T, one, two, three, key string) {
		in := []models.StorageArea{{Prefix: "s3://lake/" + one}, {Prefix: "s3://lake/" + two, Metadata: true}, {Prefix: "s3://lake/" + three}}
		at, err := objectAt("lake", key)
		if err != nil {
			return
		}
		all := readAreas(in)
		got, found := all.of(at)
		want, longest := false, -1
		for _, a := range all {
			if n := segmentsWithin(a.at.Key(), at.Key()); n > longest || (n == longest && n >= 0 && !a.metadata) {
				want, longest = a.metadata, n
			}
		}
		if found != (longest >= 0) || found && got.metadata != want {
			t.Fatalf("%q in %q, %q, %q: found %v, metadata %v; want %v, %v", key, one, two, three, found, got.metadata, longest >= 0, want)
		}
	})
}

// segmentsWithin gives how many segments an area has that a key lies in, -1 where it does not.
func segmentsWithin(prefix, key string) int {
	if prefix == "" {
		return 0
	}
	outer, inner := strings.Split(prefix, "/"), strings.Split(key, "/")
	if len(inner) < len(outer) {
		return -1
	}
	for i := range outer {
		if outer[i] != inner[i] {
			return -1
		}
	}
	return len(outer)
}
