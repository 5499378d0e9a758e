package s3gateway

import (
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/versity/versitygw/auth"
)

func BenchmarkGateway(b *testing.B) {
	o := Options{Folder: b.TempDir(), RootKey: rootKey, RootSecret: rootSecret}
	g, err := Start(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Stop()
	if err := g.EnsureBucket(lake); err != nil {
		b.Fatal(err)
	}
	e := &endpoint{Gateway: g}
	v, err := e.tryAssume(tablePolicy("t1"), time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	c, err := e.newClient(v)
	if err != nil {
		b.Fatal(err)
	}
	content := many(16 << 10)
	write := func(name string) {
		if _, err := c.Client.PutObject(b.Context(), lake, name, strings.NewReader(content), int64(len(content)), minio.PutObjectOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("PUT 16 KiB", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			write(key("t1/data/put/%d", i))
		}
	})
	for i := range 1000 {
		write(key("t1/data/list/%d", i))
	}
	b.Run("HEAD", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.StatObject(b.Context(), lake, "t1/data/list/1", minio.StatObjectOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list 1000", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.ListObjectsV2(lake, "t1/data/list/", "", "", "", 1000); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPolicy is what a session costs a request beyond its signature.
func BenchmarkPolicy(b *testing.B) {
	v, err := newVault(rootKey, rootSecret)
	if err != nil {
		b.Fatal(err)
	}
	access := newAccessKey()
	token, err := v.seal(access, session{Policy: tablePolicy("t1"), Expires: time.Now().Add(time.Hour).Unix()})
	if err != nil {
		b.Fatal(err)
	}
	s := newSessions(Options{RootKey: rootKey, RootSecret: rootSecret}, v)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.EvaluatePolicy(access, token, []auth.Action{auth.GetObjectAction}, []string{"arn:aws:s3:::lake/t1/data/a"}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
