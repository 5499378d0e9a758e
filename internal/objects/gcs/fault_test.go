package gcs

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

const file = "gs://lake/wh/t/metadata/00001-a.metadata.json"

// at makes a store whose server is the handler.
func at(t *testing.T, handler http.HandlerFunc) *Store {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s, err := New(t.Context(), Config{Endpoint: server.URL, Anonymous: true}, parse(t, "gs://lake"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// refuse answers as Google does.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"message":"internal words of the store"}}`, status)
}

func TestFaultsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		status       int
		read, create fault.Code
		says         string
	}{
		{404, fault.NotFound, fault.Unavailable, "Failed to open"},
		{403, fault.Unavailable, fault.Unavailable, "Storage Object User"},
		{401, fault.Unavailable, fault.Unavailable, "refused"},
		{412, fault.Unavailable, fault.AlreadyExists, "did not do"},
		{400, fault.Unavailable, fault.Unavailable, "did not do"},
	} {
		s := at(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, c.status)
		})
		_, err := s.ReadFile(t.Context(), file)
		assert.Equal(t, c.read, fault.CodeOf(err), c.status)
		assert.Contains(t, fault.PublicMessage(err), c.says, c.status)
		assert.NotContains(t, fault.PublicMessage(err), "internal words")
		assert.Equal(t, c.create, fault.CodeOf(s.CreateFile(t.Context(), file, []byte("x"))), c.status)
		_, err = s.List(t.Context(), "gs://lake/wh", "", 1)
		assert.True(t, fault.Is(err, fault.Unavailable), "%d: %v", c.status, err)
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	var asked atomic.Int32
	s := at(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if asked.Add(1)%2 == 1 {
			refuse(w, http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	})
	_, err := s.ReadFile(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.CreateFile(t.Context(), file, []byte("x")))
	require.NoError(t, s.DeleteFile(t.Context(), file))
	assert.EqualValues(t, 6, asked.Load())
}

// The first upload succeeds and its answer is lost: the retry's condition fails by our own object.
func TestCreateKnowsItsOwnObject(t *testing.T) {
	for stored, want := range map[string]fault.Code{"content": "", "CONTENT": fault.AlreadyExists} {
		var puts atomic.Int32
		s := at(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				assert.Equal(t, "0", r.URL.Query().Get("ifGenerationMatch"))
				_, _ = io.Copy(io.Discard, r.Body)
				if puts.Add(1) == 1 {
					refuse(w, http.StatusBadGateway)
					return
				}
				refuse(w, http.StatusPreconditionFailed)
				return
			}
			_, _ = io.WriteString(w, stored)
		})
		assert.Equal(t, want, fault.CodeOf(s.CreateFile(t.Context(), file, []byte("content"))))
		assert.EqualValues(t, 2, puts.Load())
	}
}

func TestAnOpenFileThatIsReplacedSaysSo(t *testing.T) {
	s := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("ifGenerationMatch") == "" && r.Header.Get("x-goog-if-generation-match") == "" {
			_, _ = io.WriteString(w, `{"name":"wh/t/metadata/00001-a.metadata.json","size":"4","generation":"7"}`)
			return
		}
		refuse(w, http.StatusPreconditionFailed)
	})
	f, err := s.OpenFile(t.Context(), file)
	require.NoError(t, err)
	_, err = f.ReadAt(make([]byte, 2), 0)
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.Contains(t, fault.PublicMessage(err), "replaced")
}

func TestAStoreKeepsToItsKind(t *testing.T) {
	s := at(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusTeapot) })
	for _, loc := range []string{"s3://lake/x", "abfss://lake@account.dfs.core.windows.net/x", "/x"} {
		_, err := s.ReadFile(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.Forbidden), err)
	}
	_, err := s.ReadFile(t.Context(), "gs://lake")
	assert.True(t, fault.Is(err, fault.Invalid), err)
}

// Without an identity the error says so at once, and is not taken for a server that cannot be reached.
func TestNoIdentitySaysSo(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", t.TempDir()+"/absent.json")
	s, err := New(t.Context(), Config{}, parse(t, "gs://lake"))
	require.NoError(t, err)
	_, err = s.Stat(t.Context(), file)
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.Contains(t, fault.PublicMessage(err), "could not sign in")
	assert.True(t, fault.Is(objects.Check(t.Context(), s, "gs://lake/wh"), fault.Unavailable))
}
