package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// names are keys with every character that encoders treat differently.
func names() []string {
	return []string{
		"f.parquet", "a b", "a+b", "a%20b", "a=b", "a:b", "a@b", "a~b", "a&b", "a$b", "a,b", "a;b", "a'b", "a(b)", "a!b", "a*b",
		"ts=2026-03-01 12%3A00%3A00+01%3A00", "ünïcödé", "日本/語", "🎈", "p=a%2Fb", "-._~", "[x]", "a|b^c`d", `a"b`, "a<b>c", "a{b}c",
	}
}

// TestSameSignatureAsAnotherLibrary signs requests with minio-go's signer at the same (fake) time.
func TestSameSignatureAsAnotherLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Now)
		for _, token := range []string{"", "session/token=="} {
			p := profile()
			p.SessionToken = token
			for _, name := range names() {
				for _, r := range []Request{
					request("GET", "/lake/"+table+"/"+encode(name, true), "Range", "bytes=0-1"),
					request("PUT", "/lake/"+table+"/"+encode(name, true), "Content-Type", "application/x  y", "x-amz-meta-note", " a  b ",
						"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==", "Expect", "100-continue", "Content-Length", "5", "User-Agent", "x"),
					request("POST", "/lake/"+table+"/"+encode(name, true)+"?uploadId="+encode("u/+ ="+name, false)),
					request("GET", "/lake?list-type=2&prefix="+encode(table+"/"+name, false)+"&delimiter=%2F&continuation-token=a%2Bb%3D"),
				} {
					signed, err := s.Sign(p, t1(full()), r)
					require.NoError(t, err, "%s %s", r.Method, r.URI)
					want := signedByMinio(t, p, signed, r.Method)
					assert.Equal(t, want, signed.Headers["Authorization"][0], "%s %s", r.Method, signed.URI)
				}
			}
		}
	})
}

// signedByMinio gives the Authorization of minio-go for the request as it was signed.
func signedByMinio(t *testing.T, p Profile, s Signed, method string) string {
	t.Helper()
	req, err := http.NewRequest(method, s.URI, nil)
	require.NoError(t, err)
	for name, values := range s.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Authorization", "X-Amz-Date", "X-Amz-Security-Token":
		default:
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return signer.SignV4(*req, p.Secrets.AccessKey, p.Secrets.SecretKey, p.SessionToken, "eu-west-1").Header.Get("Authorization")
}

// TestURIsStayAsClientsEncodeThem: what a client that encodes as Amazon's do sends comes back byte for byte.
func TestURIsStayAsClientsEncodeThem(t *testing.T) {
	for _, name := range names() {
		uri := store + "/lake/" + table + "/" + encode(name, true)
		signed, err := newSigner().Sign(profile(), t1(full()), Request{Method: "GET", URI: uri})
		require.NoError(t, err, name)
		assert.Equal(t, uri, signed.URI)
		u, err := url.Parse(signed.URI)
		require.NoError(t, err)
		assert.Equal(t, "/lake/"+table+"/"+name, u.Path)
	}
	for _, query := range []string{"?uploads", "?uploads=", "?uploadId=a%2Fb%20c%2B&x-id=Complete"} {
		uri := store + "/lake/" + table + "/f" + query
		signed, err := newSigner().Sign(profile(), t1(full()), Request{Method: "POST", URI: uri})
		require.NoError(t, err)
		assert.Equal(t, uri, signed.URI)
	}
	lax := map[string]string{"a+b": "a%2Bb", "a:b=c@d": "a%3Ab%3Dc%40d", "%c3%bc": "%C3%BC", "ü": "%C3%BC", "%7E": "~", "%41": "A"}
	for given, want := range lax {
		signed, err := newSigner().Sign(profile(), t1(full()), request("GET", "/lake/"+table+"/"+given))
		require.NoError(t, err)
		assert.Equal(t, store+"/lake/"+table+"/"+want, signed.URI)
	}
}

func TestWhatIsSignedAndWhatIsAnswered(t *testing.T) {
	p := profile()
	p.SessionToken = "temporary"
	signed, err := newSigner().Sign(p, t1(full()), request("PUT", "/lake/"+table+"/f",
		"Host", "store.example:9000", "Content-Type", "application/octet-stream", "content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==",
		"x-amz-checksum-crc32", "AAAAAA==", "x-amz-sdk-checksum-algorithm", "CRC32", "x-amz-server-side-encryption", "AES256",
		"Expect", "100-continue", "User-Agent", "Java", "Connection", "keep-alive", "amz-sdk-invocation-id", "1", "amz-sdk-request", "attempt=1",
		"Content-Length", "12", "Accept-Encoding", "gzip", "Authorization", "Bearer mine", "X-Amz-Date", "20000101T000000Z", "X-Amz-Security-Token", "mine"))
	require.NoError(t, err)
	authorization := signed.Headers["Authorization"][0]
	assert.Contains(t, authorization, "SignedHeaders=content-md5;content-type;host;x-amz-checksum-crc32;x-amz-content-sha256;x-amz-date;"+
		"x-amz-sdk-checksum-algorithm;x-amz-security-token;x-amz-server-side-encryption, ")
	assert.Contains(t, authorization, "Credential=AK/20260301/eu-west-1/s3/aws4_request")
	assert.Equal(t, []string{"20260301T120000Z"}, signed.Headers["X-Amz-Date"])
	assert.Equal(t, []string{"temporary"}, signed.Headers["X-Amz-Security-Token"])
	assert.Equal(t, []string{"UNSIGNED-PAYLOAD"}, signed.Headers["X-Amz-Content-Sha256"])
	assert.Equal(t, []string{"1B2M2Y8AsgTpgAmY7PhCfg=="}, signed.Headers["content-md5"], "as the client spells it, and once")
	assert.NotContains(t, signed.Headers, "Content-Md5")
	for _, own := range []string{"Expect", "User-Agent", "Connection", "amz-sdk-request", "Content-Length", "Host"} {
		assert.NotContains(t, signed.Headers, own, "the client keeps its own")
	}
	assert.False(t, signed.Cacheable)
}

// TestReadsMayBeCached: a signature for one range is good for another.
func TestReadsMayBeCached(t *testing.T) {
	ranged, err := newSigner().Sign(profile(), t1(reader()), request("GET", "/lake/"+table+"/f", "Range", "bytes=0-9"))
	require.NoError(t, err)
	whole, err := newSigner().Sign(profile(), t1(reader()), request("GET", "/lake/"+table+"/f"))
	require.NoError(t, err)
	assert.True(t, ranged.Cacheable)
	assert.Equal(t, whole, ranged)
	assert.NotContains(t, ranged.Headers, "Range", "a client that caches would send it with its next read")
}

func TestPayloadIsAsTheClientSays(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	for given, want := range map[string]string{"UNSIGNED-PAYLOAD": "UNSIGNED-PAYLOAD", hash: hash, "STREAMING-UNSIGNED-PAYLOAD-TRAILER": "STREAMING-UNSIGNED-PAYLOAD-TRAILER"} {
		signed, err := newSigner().Sign(profile(), t1(full()), request("PUT", "/lake/"+table+"/f", "X-Amz-Content-Sha256", given))
		require.NoError(t, err)
		assert.Equal(t, []string{want}, signed.Headers["X-Amz-Content-Sha256"])
	}
}

// TestTwoStoresWithOneAccessKey: the secret of one is not used for the other.
func TestTwoStoresWithOneAccessKey(t *testing.T) {
	a, b := profile(), profile()
	b.Secrets.SecretKey = "another"
	s := newSigner()
	r := request("GET", "/lake/"+table+"/f")
	first, err := s.Sign(a, t1(full()), r)
	require.NoError(t, err)
	second, err := s.Sign(b, t1(full()), r)
	require.NoError(t, err)
	again, err := s.Sign(a, t1(full()), r)
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
	assert.Equal(t, first, again)
}

// TestSignaturesVerifyOnTheWire sends signed requests to a server that recomputes each from the bytes it got.
func TestSignaturesVerifyOnTheWire(t *testing.T) {
	var failed error
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		failed = verify(r, "AK", "secret")
	}))
	defer server.Close()
	p := profile()
	p.Config.Endpoint = server.URL
	for _, name := range names() {
		for _, r := range []Request{
			{Method: "GET", URI: server.URL + "/lake/" + table + "/" + encode(name, true), Headers: map[string][]string{"Range": {"bytes=0-1"}}},
			{Method: "PUT", URI: server.URL + "/lake/" + table + "/" + encode(name, true), Headers: map[string][]string{"Content-Type": {"a/b"}, "X-Amz-Meta-X": {"1"}}},
			{Method: "GET", URI: server.URL + "/lake?list-type=2&prefix=" + encode(table+"/"+name, false)},
		} {
			signed, err := New(time.Now).Sign(p, t1(full()), r)
			require.NoError(t, err)
			req, err := http.NewRequest(r.Method, signed.URI, strings.NewReader("body"))
			require.NoError(t, err)
			for _, headers := range []map[string][]string{r.Headers, signed.Headers} {
				for name, values := range headers {
					req.Header[http.CanonicalHeaderKey(name)] = values
				}
			}
			response, err := server.Client().Do(req)
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			assert.NoError(t, failed, "%s %s", r.Method, signed.URI)
		}
	}
}

// verify recomputes a signature from the bytes of the request line and the headers, by the specification alone.
func verify(r *http.Request, accessKey, secret string) error {
	fields := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	scope, ok := strings.CutPrefix(fields["Credential"], accessKey+"/")
	if !ok {
		return errors.New("another key")
	}
	path, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	var query []string
	for part := range strings.SplitSeq(rawQuery, "&") {
		if part != "" && !strings.Contains(part, "=") {
			part += "="
		}
		query = append(query, part)
	}
	slices.Sort(query)
	lines := []string{r.Method, path, strings.Join(query, "&")}
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		lines = append(lines, name+":"+strings.Join(strings.Fields(value), " "))
	}
	lines = append(lines, "", fields["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256"))
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	if want := hex.EncodeToString(mac(key, text)); want != fields["Signature"] {
		return errors.New("the signature is " + fields["Signature"] + ", wanted " + want + " for\n" + strings.Join(lines, "\n"))
	}
	return nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func TestClientConfigHasNoQueryAndBothSpellings(t *testing.T) {
	got := ClientConfig(models.StorageConfig{Endpoint: store, PathStyleAccess: true}, "https://sluice.example/api/catalog", "v1/main/namespaces/ns/tables/t1/sign")
	assert.Equal(t, map[string]string{
		"s3.remote-signing-enabled": "true", "s3.chunked-encoding-enabled": "false", "s3.signer": "S3V4RestSigner",
		"signer.uri": "https://sluice.example/api/catalog", "s3.signer.uri": "https://sluice.example/api/catalog",
		"signer.endpoint": "v1/main/namespaces/ns/tables/t1/sign", "s3.signer.endpoint": "v1/main/namespaces/ns/tables/t1/sign",
		"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO", "s3.endpoint": store, "s3.path-style-access": "true",
		"client.region": "us-east-1", "s3.region": "us-east-1",
	}, got)
}

func BenchmarkSign(b *testing.B) {
	s, p, access := newSigner(), profile(), t1(appender())
	for name, r := range map[string]Request{
		"get": request("GET", "/lake/"+table+"/data/ts_day%3D2026-03-01/00000-0-f00.parquet", "Range", "bytes=0-99", "User-Agent", "x", "amz-sdk-request", "attempt=1"),
		"put": request("PUT", "/lake/"+table+"/data/00000-0-f00.parquet", "Content-Type", "application/octet-stream", "Content-Length", "100", "x-amz-checksum-crc32", "AAAAAA=="),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Sign(p, access, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("delete 1000", func(b *testing.B) {
		r := Request{Method: "POST", URI: store + "/lake?delete", Body: "<Delete>" + strings.Repeat("<Object><Key>wh/ns/t1/data/00000-0-f00.parquet</Key></Object>", 1000) + "</Delete>"}
		for b.Loop() {
			if _, err := s.Sign(p, t1(full()), r); err != nil {
				b.Fatal(err)
			}
		}
	})
}
