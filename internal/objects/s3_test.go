package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

const s3Loc = "s3://bucket/wh/t/metadata/00001-a.metadata.json"

// s3At gives a store whose endpoint is the handler. These tests are about single requests and answers; what a whole
// store does is tested against a real one by TestS3Store.
func s3At(t *testing.T, handler http.HandlerFunc) *S3Store {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s, err := NewS3Store(S3Config{Endpoint: server.URL, AccessKey: "access", SecretKey: "secret", PathStyle: true})
	require.NoError(t, err)
	return s
}

// refuse answers as S3 does.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>internal words of the store</Message></Error>", code)
}

// cutOff ends the connection without an answer, or in the middle of one.
func cutOff() { panic(http.ErrAbortHandler) }

func TestS3CreateSendsAConditionalPut(t *testing.T) {
	data := []byte(`{"format-version":2}`)
	sum := sha256.Sum256(data)
	var requests atomic.Int32
	s := s3At(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, http.MethodPut, r.Method)
		assert.Equal(t, "/bucket/wh/t/metadata/00001-a.metadata.json", r.URL.Path)
		assert.Equal(t, "*", r.Header.Get("If-None-Match"))
		assert.Equal(t, hex.EncodeToString(sum[:]), r.Header.Get("X-Amz-Content-Sha256"), "the content is signed")
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.Empty(t, r.Header.Get("Content-Encoding"), "not in signed chunks")
		assert.Empty(t, r.TransferEncoding)
		assert.Equal(t, data, body)
		w.Header().Set("ETag", `"e"`)
	})
	require.NoError(t, s.CreateFile(t.Context(), s3Loc, data))
	assert.EqualValues(t, 1, requests.Load(), "one request: no look-up of the bucket's region, no multipart")
}

func TestS3CreateAwaitsTheOutcomeOfAnother(t *testing.T) {
	for name, last := range map[string]int{"it was written": http.StatusPreconditionFailed, "it failed": http.StatusOK} {
		t.Run(name, func(t *testing.T) {
			var puts atomic.Int32
			s := s3At(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method != http.MethodPut:
					assert.Fail(t, "the content is not compared when nothing was sent twice")
				case puts.Add(1) < 3:
					refuse(w, http.StatusConflict, codeNotDecidedYet)
				case last != http.StatusOK:
					refuse(w, last, "PreconditionFailed")
				}
			})
			err := s.CreateFile(t.Context(), s3Loc, []byte("x"))
			assert.Equal(t, last != http.StatusOK, fault.Is(err, fault.AlreadyExists), err)
			assert.EqualValues(t, 3, puts.Load())
		})
	}
}

// The first PUT succeeds and its answer is lost: the retry's condition fails by our own object.
func TestS3CreateKnowsItsOwnObject(t *testing.T) {
	for name, c := range map[string]struct {
		stored string
		want   fault.Code
	}{"ours": {"content", ""}, "another's": {"CONTENT", fault.AlreadyExists}} {
		t.Run(name, func(t *testing.T) {
			var puts atomic.Int32
			s := s3At(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					if puts.Add(1) == 1 {
						cutOff()
					}
					refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
					return
				}
				w.Header().Set("ETag", `"e"`)
				w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
				w.Header().Set("Content-Length", strconv.Itoa(len(c.stored)))
				_, _ = io.WriteString(w, c.stored)
			})
			err := s.CreateFile(t.Context(), s3Loc, []byte("content"))
			assert.Equal(t, c.want, fault.CodeOf(err), err)
		})
	}
}

func TestS3FaultsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		status       int
		code         string
		read, create fault.Code
		says         string
	}{
		{http.StatusNotFound, "NoSuchKey", fault.NotFound, fault.NotFound, "Failed to open input stream for file: " + s3Loc},
		{http.StatusNotFound, "NoSuchBucket", fault.Unavailable, fault.Unavailable, "does not exist"},
		{http.StatusForbidden, "AccessDenied", fault.Unavailable, fault.Unavailable, "credentials"},
		{http.StatusForbidden, "SignatureDoesNotMatch", fault.Unavailable, fault.Unavailable, "credentials"},
		{http.StatusForbidden, codeClockSkew, fault.Unavailable, fault.Unavailable, "clocks"},
		{http.StatusBadRequest, codeWrongRegion, fault.Unavailable, fault.Unavailable, "region"},
		{http.StatusMovedPermanently, "PermanentRedirect", fault.Unavailable, fault.Unavailable, "region"},
		{http.StatusPreconditionFailed, "PreconditionFailed", fault.Unavailable, fault.AlreadyExists, ""},
		{http.StatusNotImplemented, "NotImplemented", fault.Unavailable, fault.Unavailable, "If-None-Match"},
		{http.StatusConflict, "ObjectParentIsFile", fault.Unavailable, fault.Unavailable, "conflict"},
		{http.StatusInsufficientStorage, "XMinioStorageFull", fault.Unavailable, fault.Unavailable, "full"},
		{http.StatusServiceUnavailable, "SlowDown", fault.Unavailable, fault.Unavailable, "busy"},
		{http.StatusInternalServerError, "InternalError", fault.Unavailable, fault.Unavailable, "Try again"},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			s := s3At(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, c.status, c.code) })
			_, readErr := s.ReadFile(t.Context(), s3Loc)
			assert.Equal(t, c.read, fault.CodeOf(readErr), readErr)
			createErr := s.CreateFile(t.Context(), s3Loc, []byte("x"))
			assert.Equal(t, c.create, fault.CodeOf(createErr), createErr)
			_, listErr := s.List(t.Context(), "s3://bucket/wh", "", 1)
			assert.Error(t, listErr)
			for _, err := range []error{readErr, createErr} {
				assert.Contains(t, fault.PublicMessage(err), c.says)
				assert.NotContains(t, fault.PublicMessage(err), "internal words")
				assert.Contains(t, err.Error(), "internal words", "the cause is kept for the log")
			}
		})
	}
}

func TestS3DeleteOfAMissingObjectIsFine(t *testing.T) {
	s := s3At(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "NoSuchKey") })
	assert.NoError(t, s.DeleteFile(t.Context(), s3Loc))
	s = s3At(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, codeNoSuchBucket) })
	assert.True(t, fault.Is(s.DeleteFile(t.Context(), s3Loc), fault.Unavailable))
}

func TestS3ReadAsksAgainForAnAnswerThatBreaksOff(t *testing.T) {
	content := bytes.Repeat([]byte("metadata"), 10_000)
	var gets atomic.Int32
	s := s3At(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"e"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		if r.Method == http.MethodGet && gets.Add(1)%2 == 1 {
			_, _ = w.Write(content[:1000])
			w.(http.Flusher).Flush()
			cutOff()
		}
		if r.Header.Get("Range") != "" {
			assert.Equal(t, `"e"`, r.Header.Get("If-Match"), "of the version that was opened")
			assert.Equal(t, "bytes=0-79999", r.Header.Get("Range"))
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(content)
	})
	data, err := s.ReadFile(t.Context(), s3Loc)
	require.NoError(t, err)
	assert.Equal(t, content, data)

	f, err := s.OpenFile(t.Context(), s3Loc)
	require.NoError(t, err)
	data, err = io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, content, data)
	assert.EqualValues(t, 4, gets.Load())
}

func TestS3ReadNoticesAReplacedObjectAndIgnoredRanges(t *testing.T) {
	var status atomic.Int32
	s := s3At(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"e"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", "100")
		if r.Method == http.MethodGet && status.Load() != http.StatusOK {
			w.Header().Del("Content-Length")
			refuse(w, int(status.Load()), "PreconditionFailed")
			return
		}
		_, _ = w.Write(make([]byte, 100))
	})
	f, err := s.OpenFile(t.Context(), s3Loc)
	require.NoError(t, err)
	status.Store(http.StatusPreconditionFailed)
	_, err = f.ReadAt(make([]byte, 10), 5)
	assert.Contains(t, fault.PublicMessage(err), "was replaced")
	status.Store(http.StatusOK)
	_, err = f.ReadAt(make([]byte, 10), 5)
	assert.Contains(t, fault.PublicMessage(err), "ranged reads")
}

func TestS3ReadsAnAnswerOfUnknownLength(t *testing.T) {
	s := s3At(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.(http.Flusher).Flush() // sends the header without a length
		_, _ = io.WriteString(w, "content")
	})
	data, err := s.ReadFile(t.Context(), s3Loc)
	require.NoError(t, err)
	assert.Equal(t, "content", string(data))
	_, err = s.ReadFileUpTo(t.Context(), s3Loc, 7)
	require.NoError(t, err)
	_, err = s.ReadFileUpTo(t.Context(), s3Loc, 6)
	assert.True(t, fault.Is(err, fault.TooLarge), "%v: a part is not the object", err)
	_, err = s.Stat(t.Context(), s3Loc)
	assert.Contains(t, fault.PublicMessage(err), "how large")
}

func TestS3UnreachableIsToldSoon(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	s, err := NewS3Store(S3Config{Endpoint: server.URL, AccessKey: "access", SecretKey: "secret"})
	require.NoError(t, err, "a store may be made before its endpoint is there")
	start := time.Now()
	err = s.CreateFile(t.Context(), s3Loc, []byte("x"))
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.Contains(t, fault.PublicMessage(err), "could not be reached")
	assert.Less(t, time.Since(start), 10*time.Second)
}

func TestS3EndsWithItsContext(t *testing.T) {
	s := s3At(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := s.ReadFile(ctx, s3Loc)
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 5*time.Second)
}

func TestS3ConfigIsChecked(t *testing.T) {
	for _, endpoint := range []string{"ftp://host", "http://host/path", "http://user:pass@host", "http://", "http://host?x=y", "::"} {
		_, err := NewS3Store(S3Config{Endpoint: endpoint})
		assert.True(t, fault.Is(err, fault.Invalid), "%s: %v", endpoint, err)
		assert.NotContains(t, err.Error(), "pass")
	}
	for _, endpoint := range []string{"", "host", "host:9000", "http://host:9000", "https://host/"} {
		_, err := NewS3Store(S3Config{Endpoint: endpoint})
		assert.NoError(t, err, endpoint)
	}
	_, err := NewS3Store(S3Config{AccessKey: "a"})
	assert.True(t, fault.Is(err, fault.Invalid), err)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", S3Config{SecretKey: "hush"}, S3Config{SecretKey: "hush"}, Config{S3: S3Config{SecretKey: "hush"}}, S3Config{SecretKey: "hush"}), "hush")
	s, err := NewS3Store(S3Config{})
	require.NoError(t, err)
	_, err = s.ReadFile(t.Context(), "file:///x")
	assert.True(t, fault.Is(err, fault.Forbidden), err)
	_, err = s.ReadFile(t.Context(), "s3://bucket")
	assert.True(t, fault.Is(err, fault.Invalid), err)
}
