package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// watched is a running serve with a table of two commits, and the keys that it gives an engine for it.
type watched struct {
	t       *testing.T
	folder  string
	serve   *program
	file    bootstrapFile
	token   string // of the engine
	bucket  string
	objects []string // keys of the data files
	store   *minio.Core
}

// everySecond lets the files be checked as often as can be.
func everySecond() []string { return []string{"--file-check-interval", "1s"} }

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t, folder: t.TempDir() + "/data"}
	w.serve, w.file = startServe(t, w.folder, everySecond()...)
	w.command("policy", "set-default", "main", "open_append")
	var minted struct{ Token string }
	w.decode(&minted, "tokens", "mint", "--name", "engine")
	w.token = minted.Token
	engine, err := newDemoEngine(t.Context(), w.file.CatalogURI, "main", w.token)
	require.NoError(t, err)
	require.NoError(t, engine.createTable(t.Context()))
	for range 2 {
		_, err := engine.appendRows(t.Context(), 100)
		require.NoError(t, err)
	}
	w.eventually("both commits are reconciled", func() bool {
		return len(w.items("audit", "list", "--type", string(models.AuditCommitReconciled))) == 2
	})
	w.findKeys()
	return w
}

// findKeys asks for the table as an engine does, and makes a client of the keys that come with it.
func (w *watched) findKeys() {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.file.CatalogURI+"/v1/main/namespaces/demo/tables/events", nil)
	require.NoError(w.t, err)
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("X-Iceberg-Access-Delegation", "vended-credentials")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer func() { _ = resp.Body.Close() }()
	var table struct {
		Config   map[string]string
		Metadata struct{ Location string }
	}
	require.NoError(w.t, json.NewDecoder(resp.Body).Decode(&table))
	c := table.Config
	require.NotEmpty(w.t, c["s3.session-token"], "%d %v", resp.StatusCode, c)
	w.store, err = minio.NewCore(strings.TrimPrefix(c["s3.endpoint"], "http://"), &minio.Options{
		Creds:  credentials.NewStaticV4(c["s3.access-key-id"], c["s3.secret-access-key"], c["s3.session-token"]),
		Region: "us-east-1", BucketLookup: minio.BucketLookupPath,
	})
	require.NoError(w.t, err)
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(table.Metadata.Location, "s3://"), "/")
	listed, err := w.store.ListObjectsV2(bucket, prefix+"/data/", "", "", "", 10)
	require.NoError(w.t, err)
	w.bucket, w.objects = bucket, nil
	for _, object := range listed.Contents {
		w.objects = append(w.objects, object.Key)
	}
	require.Len(w.t, w.objects, 2)
}

func (w *watched) read(key string) []byte {
	w.t.Helper()
	body, _, _, err := w.store.GetObject(w.t.Context(), w.bucket, key, minio.GetObjectOptions{})
	require.NoError(w.t, err)
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	require.NoError(w.t, err)
	return data
}

// replace writes over an object with the engine's own keys, which no session policy can keep from it.
func (w *watched) replace(key string, data []byte) {
	w.t.Helper()
	_, err := w.store.PutObject(w.t.Context(), w.bucket, key, bytes.NewReader(data), int64(len(data)), "", "", minio.PutObjectOptions{})
	require.NoError(w.t, err)
}

func (w *watched) command(args ...string) string {
	w.t.Helper()
	exit, out, errOut := command(nil, append(args, "--data", w.folder)...)
	require.Equal(w.t, exitOK, exit, "%v: %s", args, errOut)
	return out
}

func (w *watched) decode(into any, args ...string) {
	w.t.Helper()
	require.NoError(w.t, json.Unmarshal([]byte(w.command(append(args, "-o", "json")...)), into))
}

func (w *watched) items(args ...string) []map[string]any {
	w.t.Helper()
	var page struct{ Items []map[string]any }
	w.decode(&page, args...)
	return page.Items
}

func (w *watched) open() []map[string]any { return w.items("findings", "list") }

func (w *watched) eventually(what string, holds func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		require.True(w.t, time.Now().Before(deadline), what)
	}
}

// checkedOnceMore waits until a check that began after now has ended: it finds what is done to the other file.
func (w *watched) checkedOnceMore(control string) {
	w.t.Helper()
	before, was := len(w.open()), w.read(control)
	w.replace(control, []byte("something else"))
	w.eventually("the control is found", func() bool { return len(w.open()) == before+1 })
	w.replace(control, was)
	w.eventually("the control is resolved", func() bool { return len(w.open()) == before })
}

// TestAFileThatIsReplacedIsFound: vended keys under open_append cannot forbid it, so it is noticed. Nothing else is.
func TestAFileThatIsReplacedIsFound(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	victim, control := w.objects[0], w.objects[1]
	original := w.read(victim)
	require.Empty(t, w.open(), "files that nobody touched are no finding")

	forged := bytes.Repeat([]byte("x"), len(original)) // of the same size
	w.replace(victim, forged)
	w.eventually("the change is found", func() bool { return len(w.open()) == 1 })
	found := w.open()[0]
	assert.Equal(t, "file_changed", found["kind"])
	assert.Equal(t, "high", found["severity"])
	assert.Equal(t, "main.demo.events", found["ref"])
	assert.Equal(t, "root", found["principal"], "who committed the file")
	assert.Equal(t, "s3://"+w.bucket+"/"+victim, lookup(found, "evidence.file"))
	assert.InDelta(t, len(original), lookup(found, "evidence.then.size"), 0)
	assert.InDelta(t, len(original), lookup(found, "evidence.now.size"), 0)
	assert.NotEqual(t, lookup(found, "evidence.then.etag"), lookup(found, "evidence.now.etag"))
	assert.NotEmpty(t, lookup(found, "evidence.now.modified"))
	commits := w.items("commits", "list", "--table", "main.demo.events")
	assert.Contains(t, []any{commits[0]["snapshotId"], commits[1]["snapshotId"]}, found["snapshotId"])
	assert.Contains(t, w.command("findings", "list"), fmt.Sprintf("another content of %d bytes", len(original)))
	w.metric("file_changed", 1)

	w.replace(victim, original)
	w.eventually("what is as it was is resolved by itself", func() bool { return len(w.open()) == 0 })
	resolved := w.items("findings", "list", "--state", "resolved")
	require.Len(t, resolved, 1)
	assert.Equal(t, []any{found["id"], "sluice"}, []any{resolved[0]["id"], resolved[0]["resolvedBy"]})

	w.replace(victim, forged)
	w.eventually("another time is found again", func() bool { return len(w.open()) == 1 })
	id := w.open()[0]["id"].(string)
	w.command("findings", "resolve", id, "--note", "we did that")
	w.checkedOnceMore(control)
	assert.Empty(t, w.open(), "what somebody accepted is not found again")
	w.replace(victim, []byte("yet another"))
	w.eventually("what follows is", func() bool { return len(w.open()) == 1 })
	assert.Contains(t, w.command("audit", "list", "--type", "finding.resolved"), "file_changed")
}

// TestAKillBetweenChecksDoublesNoFinding kills serve at moments when a check is likely to be under way.
func TestAKillBetweenChecksDoublesNoFinding(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	for round, key := range w.objects {
		w.replace(key, []byte("round "+key))
		time.Sleep(time.Duration(300+700*round) * time.Millisecond)
		w.serve.signal(syscall.SIGKILL)
		w.serve.exit(10 * time.Second)
		w.serve, w.file = startServe(t, w.folder, everySecond()...)
		w.findKeys()
	}
	w.eventually("both are found", func() bool { return len(w.open()) == 2 })
	first := w.open()[0]["lastSeenAt"]
	w.eventually("they are looked at again", func() bool { return w.open()[0]["lastSeenAt"] != first })
	assert.Len(t, w.open(), 2)
	assert.Len(t, w.items("findings", "list", "--state", "all"), 2, "each is found once")
	assert.Len(t, w.items("audit", "list", "--type", "finding.opened"), 2, "and told once")
}

// metric waits for a count, which is kept for some seconds.
func (w *watched) metric(kind string, want int) {
	w.t.Helper()
	line := fmt.Sprintf("sluice_findings_open{kind=%q} %d\n", kind, want)
	w.eventually(line, func() bool {
		_, body := get(w.t, strings.TrimSuffix(w.file.GovernanceURI, governancePath)+"/metrics", "")
		return strings.Contains(body, line)
	})
}
