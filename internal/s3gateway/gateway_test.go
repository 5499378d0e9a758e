package s3gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestStartRefusesWhatCannotWork(t *testing.T) {
	good := Options{Folder: t.TempDir(), RootKey: rootKey, RootSecret: rootSecret}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for name, change := range map[string]func(*Options){
		"no folder":                       func(o *Options) { o.Folder = "" },
		"a file for a folder":             func(o *Options) { o.Folder = file },
		"no root key":                     func(o *Options) { o.RootKey = "" },
		"a temporary root key":            func(o *Options) { o.RootKey = "ASIAROOT" },
		"a short secret":                  func(o *Options) { o.RootSecret = "short" },
		"no port":                         func(o *Options) { o.Listen = "127.0.0.1" },
		"a port that is taken":            func(o *Options) { o.Listen = taken.Addr().String() },
		"sessions of a minute's fraction": func(o *Options) { o.MinSession = time.Millisecond },
	} {
		o := good
		change(&o)
		g, err := Start(t.Context(), o)
		assert.Nil(t, g, name)
		assert.NotEqual(t, fault.Internal, fault.CodeOf(err), "%s: %v", name, err)
		assert.NotContains(t, fault.PublicMessage(err), rootSecret)
	}
	g, err := Start(t.Context(), good)
	require.NoError(t, err)
	defer g.Stop()
	assert.True(t, strings.HasPrefix(g.Endpoint(), "http://127.0.0.1:"), "on this machine only, unless told otherwise")
	for _, name := range []string{"", "ab", "A-Bucket", "a/b", "..", ".hidden", "a.b", strings.Repeat("a", 64), "-a-"} {
		assert.True(t, fault.Is(g.EnsureBucket(name), fault.Invalid), name)
	}
	require.NoError(t, g.EnsureBucket("one"))
	require.NoError(t, g.EnsureBucket("one"))
}

func TestOnlyEnsuredBucketsAreServed(t *testing.T) {
	e := start(t)
	require.NoError(t, os.MkdirAll(filepath.Join(e.folder, "temporal"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(e.folder, "temporal", "db"), []byte(secret), 0o600))
	_, err := e.root(t).StatObject(t.Context(), "temporal", "db", minio.StatObjectOptions{})
	assert.Error(t, err, "the data folder may hold more than buckets")
	buckets, err := e.root(t).ListBuckets(t.Context())
	require.NoError(t, err)
	require.Len(t, buckets, 1)
	assert.Equal(t, lake, buckets[0].Name)
}

// TestStop ends an endpoint with a connection that is idle, one that uploads, and one that downloads.
func TestStop(t *testing.T) {
	e := start(t)
	c := e.root(t)
	put(t, c, "big", many(64<<20))
	link, err := c.PresignedGetObject(t.Context(), lake, "big", time.Minute, url.Values{})
	require.NoError(t, err)
	res, err := http.Get(link.String())
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	up, err := c.PresignedPutObject(t.Context(), lake, "never", time.Minute)
	require.NoError(t, err)
	body, write := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, up.String(), body)
	require.NoError(t, err)
	req.ContentLength = 1 << 20
	ended := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		ended <- err
	}()
	_, err = write.Write([]byte("begun"))
	require.NoError(t, err)

	began := time.Now()
	e.Stop()
	e.Stop()
	assert.Less(t, time.Since(began), 2*time.Second)
	_, err = net.Dial("tcp", strings.TrimPrefix(e.Endpoint(), "http://"))
	assert.Error(t, err)
	require.NoError(t, write.CloseWithError(io.ErrClosedPipe))
	assert.Error(t, <-ended)
	assert.NoFileExists(t, filepath.Join(e.folder, lake, "never"))

	again := start(t, func(o *Options) { o.Folder, o.Listen = e.folder, strings.TrimPrefix(e.Endpoint(), "http://") })
	assert.Equal(t, e.Endpoint(), again.Endpoint(), "the address is free again")
}

func TestTheEndOfTheContextStopsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, err := Start(ctx, Options{Folder: t.TempDir(), RootKey: rootKey, RootSecret: rootSecret})
	require.NoError(t, err)
	cancel()
	select {
	case <-g.Done():
	case <-time.After(3 * time.Second):
		t.Fatal("it runs on")
	}
}

func TestTheWorkingDirectoryStays(t *testing.T) {
	before, err := os.Getwd()
	require.NoError(t, err)
	one, two := start(t), start(t)
	put(t, one.root(t), "x", "one")
	put(t, two.root(t), "x", "two")
	assert.Equal(t, "one", get(t, one.root(t), "x"), "two endpoints of a process do not meet")
	after, err := os.Getwd()
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestQuietConnectionsEnd(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := newListener(tcp, 100*time.Millisecond)
	defer func() { _ = l.Close() }()
	result := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.ReadAll(c)
			_ = c.Close()
		}
		result <- err
	}()
	client, err := net.Dial("tcp", tcp.Addr().String())
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	for range 5 { // longer than the quiet time, but never quiet
		_, err = client.Write([]byte("x"))
		require.NoError(t, err)
		time.Sleep(40 * time.Millisecond)
	}
	select {
	case err := <-result:
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
	case <-time.After(2 * time.Second):
		t.Fatal("the connection stays open")
	}
	assert.Empty(t, l.slots, "its place is free")
}

func TestTheLogHasNoSecrets(t *testing.T) {
	log := &testLog{}
	e := start(t, func(o *Options) { o.Logger = log.logger() })
	tables(t, e)
	v := e.assume(t, tablePolicy("t1"), time.Hour)
	c := e.client(t, v)
	link, err := c.PresignedGetObject(t.Context(), lake, "t1/data/a", time.Minute, url.Values{})
	require.NoError(t, err)
	fetchURL(t, http.MethodGet, link.String(), "")
	_, err = tryGet(t, c, "t10/data/a")
	require.Error(t, err)
	e.Stop()
	text := log.String()
	assert.Contains(t, text, "/lake/t1/data/a")
	assert.Contains(t, text, "status=403")
	for _, hidden := range []string{rootSecret, v.SecretAccessKey, v.SessionToken[:40], link.Query().Get("X-Amz-Signature"), "not for t1"} {
		assert.NotContains(t, text, hidden)
	}
}
