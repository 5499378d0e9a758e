package objects

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestParseGivesOneNameToOnePlace(t *testing.T) {
	for in, want := range map[string]string{
		"s3://bucket/wh/t":              "s3://bucket/wh/t",
		"s3a://bucket/wh/t":             "s3://bucket/wh/t",
		"s3n://bucket/wh/t/":            "s3://bucket/wh/t",
		"S3A://bucket/wh/t":             "s3://bucket/wh/t",
		"s3://bucket":                   "s3://bucket",
		"s3://bucket/":                  "s3://bucket",
		"file:///data/wh":               "file:///data/wh",
		"file:/data/wh/":                "file:///data/wh",
		"FILE:///data/wh":               "file:///data/wh",
		"file://localhost/data/wh":      "file:///data/wh",
		"/data/wh":                      "file:///data/wh",
		"/":                             "file:///",
		"file:///":                      "file:///",
		"s3://bucket/p=a%2Fb/x.parquet": "s3://bucket/p=a%2Fb/x.parquet", // as Iceberg writes the partition value a/b
		"s3://bucket/p=50%/x":           "s3://bucket/p=50%/x",
		"s3://bucket/a b:c=d+e/ü":       "s3://bucket/a b:c=d+e/ü",
		"/data/..wh/x..y/...":           "file:///data/..wh/x..y/...",
	} {
		loc, err := Parse(in)
		if assert.NoError(t, err, in) {
			assert.Equal(t, want, loc.String(), in)
			again, err := Parse(loc.String())
			assert.NoError(t, err)
			assert.Equal(t, loc, again, "the normal form of %s names the same place", in)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for in, says := range map[string]string{
		"":                             "empty",
		"wh/t":                         "no scheme",
		"dir/a:b":                      "no scheme",
		"hdfs://host/x":                "not supported",
		"C:\\data":                     "not supported",
		"s3:bucket/x":                  "no bucket",
		"s3:///x":                      "no bucket",
		"s3://Bucket/x":                "lower-case",
		"s3://user@bucket/x":           "other than",
		"s3://bucket:9000/x":           "other than",
		"s3://../x":                    "dot",
		"s3://" + longest(64) + "/x":   "63",
		"file:x":                       "relative",
		"file://host/x":                "host",
		"file://":                      "host",
		"/wh/../etc":                   "..",
		"/wh/./t":                      "segment",
		"/wh/..":                       "..",
		"s3://bucket/..":               "..",
		"s3://bucket/a//b":             "empty path segment",
		"s3://bucket//a":               "empty path segment",
		"s3://bucket/a//":              "empty path segment",
		"//data":                       "empty path segment",
		"s3://bucket/%2e%2e/x":         "percent-encoding",
		"s3://bucket/%2E./x":           "percent-encoding",
		"s3://bucket/a%2F..%2Fb":       "percent-encoding",
		"s3://bucket/a%5C..%5Cb":       "percent-encoding",
		"s3://bucket/%252e%252e/x":     "percent-encoding",
		"s3://bucket/%zz%2F..%2F":      "percent-encoding",
		"/wh/a%00b":                    "NUL",
		"/wh/a\x00b":                   "control character",
		"/wh/a\nb":                     "control character",
		"/wh/a\u0085b":                 "control character",
		"s3://bucket/a?versionId=1":    "query",
		"s3://bucket/a#b":              "fragment",
		"s3://bucket/a\\b":             "backslash",
		"/wh/\xff":                     "UTF-8",
		"s3://bucket/" + longest(1025): "1024",
		"/" + longest(4096):            "4095",
	} {
		_, err := Parse(in)
		if assert.Error(t, err, in) {
			assert.Equal(t, fault.Invalid, fault.CodeOf(err), in)
			assert.Contains(t, fault.PublicMessage(err), says, in)
			assert.Less(t, len(err.Error()), 600, "messages stay short")
		}
	}
}

func longest(n int) string { return strings.Repeat("a", n) }

func TestWithinComparesWholeSegments(t *testing.T) {
	for _, c := range []struct {
		prefix, loc string
		want        bool
	}{
		{"/wh/a", "/wh/a", true},
		{"/wh/a/", "/wh/a/b", true},
		{"/wh/a", "/wh/ab", false},
		{"/wh/a/b", "/wh/a", false},
		{"/wh/a", "/wh/a/../b", false},
		{"/", "/wh", true},
		{"file:///wh", "file:/wh/x", true},
		{"s3://b1/wh", "s3a://b1/wh/x", true},
		{"s3://b1", "s3n://b1/x", true},
		{"s3://b1", "s3://b12/x", false},
		{"s3://b1/wh", "s3://b2/wh/x", false},
		{"s3://wh/a", "/wh/a", false},
		{"/WH", "/wh/a", false},
		{"", "/wh", false},
		{"", "", false},
		{"/wh", "", false},
	} {
		assert.Equal(t, c.want, WithinStrings(c.prefix, c.loc), "%s in %s", c.loc, c.prefix)
	}
	assert.False(t, Within(Location{}, Location{}), "nothing is within no location")
}

func TestOverlaps(t *testing.T) {
	a, b, ab := mustParse(t, "/wh/a"), mustParse(t, "/wh/a/b"), mustParse(t, "/wh/ab")
	assert.True(t, Overlaps(a, b))
	assert.True(t, Overlaps(b, a))
	assert.True(t, Overlaps(a, a))
	assert.False(t, Overlaps(a, ab))
	assert.False(t, Overlaps(Location{}, a))
}

func TestJoinStaysBelowItsBase(t *testing.T) {
	base := mustParse(t, "s3://bucket/wh")
	loc, err := Join(base, "ns/t/metadata")
	require.NoError(t, err)
	assert.Equal(t, "s3://bucket/wh/ns/t/metadata", loc.String())

	loc, err = Join(mustParse(t, "s3://bucket"), "x")
	require.NoError(t, err)
	assert.Equal(t, "s3://bucket/x", loc.String())

	loc, err = Join(mustParse(t, "/"), "x")
	require.NoError(t, err)
	assert.Equal(t, "/x", loc.Path())

	for _, rel := range []string{"../x", "a/../../x", "/etc", "a//b", "%2e%2e/x", "a?b"} {
		_, err := Join(base, rel)
		assert.True(t, fault.Is(err, fault.Invalid), "%s: %v", rel, err)
	}
	_, err = Join(Location{}, "x")
	assert.True(t, fault.Is(err, fault.Invalid))
}

func TestParseAllocatesNothingForANormalLocation(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		WithinStrings("s3://bucket/wh/ns/table", "s3a://bucket/wh/ns/table/data/p=1/00000-0-a.parquet")
	}))
}

// FuzzWithin: what is accepted as within a prefix is there once its path is cleaned, and no decoding of it climbs.
func FuzzWithin(f *testing.F) {
	for _, seed := range []string{
		"/wh/a/../b", "/wh/a/%2e%2e/b", "file:/wh/a/x", "/wh/a/%zz%2F..%2F..", "/wh/a%2F..%2F..", "/wh/a/%25%32e./x", "/wh/a/p=a%2Fb",
	} {
		f.Add("/wh/a", seed)
		f.Add("s3://b/wh/a", "s3://b"+seed)
		f.Add("gs://b/wh/a", "gs://b"+seed)
		f.Add("abfss://lake@account.dfs.core.windows.net/wh/a", "wasbs://lake@account.blob.core.windows.net"+seed)
	}
	f.Fuzz(func(t *testing.T, prefix, location string) {
		if !WithinStrings(prefix, location) {
			return
		}
		p, l := mustParse(t, prefix), mustParse(t, location)
		require.Equal(t, p.Bucket(), l.Bucket())
		require.Equal(t, p.Scheme(), l.Scheme())
		root, cleaned := path.Clean("/"+p.Key()), path.Clean("/"+l.Key())
		require.True(t, cleaned == root || strings.HasPrefix(cleaned, strings.TrimSuffix(root, "/")+"/"), "%q is not below %q", cleaned, root)
		for key, n := l.Key(), 0; n < 5; key, n = unescape(key), n+1 {
			require.NotContains(t, strings.Split(strings.ReplaceAll(key, `\`, "/"), "/"), "..", "of %q", location)
		}
		again := mustParse(t, l.String())
		require.Equal(t, l, again)
	})
}

func mustParse(t testing.TB, s string) Location {
	t.Helper()
	loc, err := Parse(s)
	require.NoError(t, err)
	return loc
}

func BenchmarkWithinStrings(b *testing.B) {
	for b.Loop() {
		WithinStrings("s3://bucket/wh/ns/table", "s3a://bucket/wh/ns/table/data/p=1/00000-0-a.parquet")
	}
}
