package folder

import (
	"io"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/s3response"
)

// TestWithoutAttributes is a file system that has no extended attributes.
func TestWithoutAttributes(t *testing.T) {
	b := New(t.TempDir(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, b.Add("lake"))
	b.buckets["lake"].attributes = false
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	bucket, key, kind, size := "lake", "a/b", "text/csv", int64(4)
	write := func(content string) string {
		size = int64(len(content))
		out, err := b.PutObject(t.Context(), s3response.PutObjectInput{Bucket: &bucket, Key: &key, ContentType: &kind, ContentLength: &size, Body: strings.NewReader(content)})
		require.NoError(t, err)
		return out.ETag
	}
	head := func() *s3.HeadObjectOutput {
		out, err := b.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
		require.NoError(t, err)
		return out
	}
	first := write("once")
	assert.Contains(t, first, "-1", "no client takes it for an MD5 sum")
	assert.Equal(t, first, *head().ETag, "the writer and later readers are told the same")
	assert.Equal(t, defaultType, *head().ContentType)
	assert.NotEqual(t, first, write("more"), "of the same size")
	none := "*"
	_, err := b.PutObject(t.Context(), s3response.PutObjectInput{Bucket: &bucket, Key: &key, ContentLength: &size, Body: strings.NewReader("more"), IfNoneMatch: &none})
	assert.ErrorContains(t, err, "PreconditionFailed")
	second := *head().ETag
	_, err = b.PutObject(t.Context(), s3response.PutObjectInput{Bucket: &bucket, Key: &key, ContentLength: &size, Body: strings.NewReader("last"), IfMatch: new(strings.Trim(second, `"`))})
	require.NoError(t, err)
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := New(t.TempDir(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, b.Add("lake"))
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	return b.buckets["lake"]
}

// TestTheFileSystemRefusesATakenName is the moment between the look at a condition and the name, in which a writer
// that knows nothing of our locks took it.
func TestTheFileSystemRefusesATakenName(t *testing.T) {
	b := newBucket(t)
	s, err := b.newStaged()
	require.NoError(t, err)
	defer s.discard()
	require.NoError(t, s.fill(strings.NewReader("ours"), 4))
	require.NoError(t, b.root.WriteFile("x", []byte("theirs"), 0o600))
	star := "*"
	require.ErrorContains(t, b.place(s, "x", conditions{ifNoneMatch: &star}), "PreconditionFailed")
	left, err := b.root.ReadFile("x")
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(left))
	require.NoError(t, b.place(s, "x", conditions{}), "without a condition it is replaced")
	left, err = b.root.ReadFile("x")
	require.NoError(t, err)
	assert.Equal(t, "ours", string(left))
}

func TestABodyHasItsStatedLength(t *testing.T) {
	b := newBucket(t)
	for _, stated := range []int64{0, 3, 5} {
		_, _, err := b.write("x", strings.NewReader("four"), stated, attributes{}, conditions{})
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d", stated)
	}
	_, err := b.open("x")
	assert.True(t, absent(err))
	_, n, err := b.write("x", strings.NewReader("four"), 4, attributes{}, conditions{})
	require.NoError(t, err)
	assert.Equal(t, int64(4), n)
}

func TestAttributesTooLargeAreRefused(t *testing.T) {
	b := newBucket(t)
	_, _, err := b.write("x", strings.NewReader(""), 0, attributes{Meta: map[string]string{"k": strings.Repeat("v", maxAttributes)}}, conditions{})
	assert.ErrorContains(t, err, "MetadataTooLarge")
	_, err = b.open("x")
	assert.True(t, absent(err))
}

func TestKeys(t *testing.T) {
	for key, good := range map[string]bool{
		"a": true, "a/b": true, "a/": true, "ü/漢字": true, "a b+c%2F": true, "a..b": true, "...": true, ".hidden": true, ".sluice-probe-x": true, ".sluice-s3x": true, `a\b`: true, "a:b*?": true,
		strings.Repeat("a", 255): true,
		"":                       false, "/": false, "/a": false, "a//b": false, "a//": false, ".": false, "..": false, "a/..": false, "../a": false, "a/./b": false,
		"a\x00b": false, "a\nb": false, "a\x7f": false, "a\xffb": false, ".sluice-s3/x": false, "a/.sluice-tmp-x": false,
		strings.Repeat("a", 256): false, strings.Repeat("a/", 600): false,
	} {
		assert.Equal(t, good, CheckKey(key) == nil, "%q", key)
	}
}

func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"a/b", "../a", "a//b", "./a", "a/../../b", "\x00", "a/", "/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if CheckKey(key) != nil {
			return
		}
		name := filePath(key)
		if path.Clean(name) != name || !filepath.IsLocal(name) || path.IsAbs(name) {
			t.Errorf("%q is not the path of one file", key)
		}
	})
}

func TestCopySources(t *testing.T) {
	for header, want := range map[string]string{
		"lake/a/b": "lake a/b", "lake%2Fa%2Fb": "lake a/b", "lake/a%2Bb+c%20d": "lake a+b c d", "lake/%C3%BC": "lake ü", "lake/a%252e": "lake a%2e",
		"lake": "", "lake/": "", "lake/../x": "", "lake/a//b": "", "lake/%2e%2e/x": "", "lake/%zz": "", "lake/a?versionId=1": "", "lake/a%3FversionId=1": "",
	} {
		bucket, key, err := copySource(header)
		if want == "" {
			assert.Error(t, err, header)
			continue
		}
		require.NoError(t, err, header)
		assert.Equal(t, want, bucket+" "+key, header)
	}
}
