package facade

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/models"
)

// TestCaseD10BySigner is TestCaseD10 for signed requests: the signer refuses, or the store does.
func TestCaseD10BySigner(t *testing.T) {
	s := newStoreSite(t)
	ctx, own := t.Context(), s.own(t)
	s.want(t, 200, s.post(t, "/namespaces/db/tables", `{"name":"t1","location":"s3://lake/main/db/t1","schema":`+columns+`}`))
	s.want(t, 200, s.post(t, "/namespaces/db/tables", `{"name":"t10","location":"s3://lake/main/db/t10","schema":`+columns+`}`))
	for _, key := range []string{"main/db/t1/data/f", "main/db/t10/data/f", "main/f", "f"} {
		require.Empty(t, put(ctx, own, key), key)
	}
	for _, method := range []string{"GET", "HEAD"} {
		status, _ := s.bySigner(t, "t1", method, "main/db/t1/data/f", nil, nil)
		require.Equal(t, 200, status)
	}
	status, _ := s.bySigner(t, "t1", "PUT", "main/db/t1/data/a%20b%2Bc=d", []byte("y"), nil)
	require.Equal(t, 200, status)
	require.Empty(t, get(ctx, own, "main/db/t1/data/a b+c=d"), "it was encoded once")

	for _, key := range []string{
		"main/db/t10/data/f", "main/db/t1f", "main/db/t1%2F..%2Ft10%2Fdata%2Ff", "main/db/t1/../t10/data/f", "main/db/t1/%2e%2e/t10/data/f",
		"main/db/t1/..%2Ft10/data/f", "main/db/t1/%252e%252e/t10/data/f", "main/db//t1/../t10/data/f", "main/db/%74%310/data/f", "main/f", "f", "main/db/t1",
	} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			status, refused := s.bySigner(t, "t1", method, key, nil, nil)
			if key == "main/db/t1" && (method == "GET" || method == "HEAD") {
				continue // the table's own folder, which is no object
			}
			require.Zero(t, status, "%s %s", method, key)
			require.Contains(t, []int{400, 403}, refused.StatusCode, "%s %s", method, key)
			require.NotEmpty(t, refused.kind())
		}
	}
	require.Empty(t, get(ctx, own, "main/db/t10/data/f"))
	_, refused := s.bySigner(t, "t1", "PUT", "main/db/t1/data/copy", nil, map[string][]string{"x-amz-copy-source": {"/lake/main/db/t10/data/f"}})
	require.Equal(t, 403, refused.StatusCode)
	other := s.post(t, tablePath("t1")+"/sign", signBody("GET", "http://other.example:9000/lake/main/db/t1/data/f", nil, nil))
	s.want(t, 403, other)
}

// TestCaseE1: a table's prefix may be listed, as remove_orphan_files does, and nothing above it.
func TestCaseE1(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	location := inBucket(s.open(t, "t", signed).Metadata.Location)
	for _, prefix := range []string{location, location + "/", location + "/data/", location + "/metadata"} {
		status, refused := s.bySigner(t, "t", "GET", "?list-type=2&prefix="+url.QueryEscape(prefix), nil, nil)
		require.Equal(t, 200, status, "%s: %s", prefix, refused.body)
	}
	for _, query := range []string{"?list-type=2", "?list-type=2&prefix=", "?list-type=2&prefix=main%2Fdb%2F", "?list-type=2&prefix=" + url.QueryEscape(location+"0"), "?list-type=2&prefix=main", "?acl", "?policy"} {
		_, refused := s.bySigner(t, "t", "GET", query, nil, nil)
		require.Equal(t, 403, refused.StatusCode, query)
	}
}

// TestCaseE2: what the signer says to a token that is over is JSON, and a new token goes on where the old one ended.
func TestCaseE2(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	file := inBucket(s.open(t, "t", signed).Metadata.Location) + "/data/f"
	old := s.person(t, "writer", models.Internal, models.TableWriteData)
	status, _ := old.bySigner(t, "t", "PUT", file, []byte("x"), nil)
	require.Equal(t, 200, status)
	renewed := s.as(renew(t, old))
	status, _ = renewed.bySigner(t, "t", "GET", file, nil, nil)
	require.Equal(t, 200, status)
	r, err := s.sendTo(t.Context(), "POST", s.url+governed+"/tokens", `{"principal":"writer","catalog":"main","canWrite":true,"expiresIn":1}`)
	require.NoError(t, err)
	var made struct{ Token string }
	s.want(t, 201, r).into(t, &made)
	time.Sleep(1100 * time.Millisecond)
	_, refused := s.as(made.Token).bySigner(t, "t", "GET", file, nil, nil)
	require.Equal(t, 401, refused.StatusCode)
	require.Equal(t, "NotAuthorizedException", refused.kind())
}

// renew exchanges a token for a later one.
func renew(t *testing.T, s *storeSite) string {
	t.Helper()
	grant, err := s.doors().oauth.IssueAccessToken(t.Context(), access.GrantRequest{
		GrantType: "urn:ietf:params:oauth:grant-type:token-exchange", SubjectToken: s.token, SubjectTokenType: "urn:ietf:params:oauth:token-type:access_token",
	})
	require.NoError(t, err)
	return grant.AccessToken
}

// TestCaseE3: where a table is signed for is the same for its whole life, a day later too.
func TestCaseE3(t *testing.T) {
	clock := time.Now().UTC()
	s := newStoreSite(t, func(s *setup) { s.core.Now = func() time.Time { return clock } })
	s.create(t, "t")
	before := s.open(t, "t", signed).Config
	clock = clock.Add(24 * time.Hour)
	require.Equal(t, before, s.open(t, "t", signed).Config)
	status, _ := s.bySigner(t, "t", "PUT", inBucket(s.open(t, "t", signed).Metadata.Location)+"/data/f", []byte("x"), nil)
	require.Equal(t, 200, status)
}

// TestCaseE6 also covers E9 and E13: every spelling of the signer is there, none has a query, and behind a proxy with a path
// prefix clients keep to the URI that they use or to the one that is configured.
func TestCaseE6(t *testing.T) {
	for _, public := range []string{"", "https://lake.example/sluice/"} {
		s := newStoreSite(t, func(s *setup) { s.api.Catalog.PublicURL = public })
		s.create(t, "t")
		o := s.open(t, "t", signed)
		for _, k := range []string{"s3.signer.endpoint", "signer.endpoint"} {
			require.Equal(t, "v1/main/namespaces/db/tables/t/sign", o.Config[k])
		}
		for _, k := range []string{"s3.signer.uri", "signer.uri"} {
			if public == "" {
				require.NotContains(t, o.Config, k)
			} else {
				require.Equal(t, "https://lake.example/sluice/api/catalog", o.Config[k])
			}
		}
		require.Equal(t, "S3V4RestSigner", o.Config["s3.signer"])
		require.Equal(t, "true", o.Config["s3.remote-signing-enabled"])
		require.Equal(t, "false", o.Config["s3.chunked-encoding-enabled"])
		require.NotNil(t, o.Signing)
		require.Empty(t, o.Credentials)
		r, err := s.sendTo(t.Context(), "GET", s.url+"/api/table/iceberg/v1/main"+tablePath("t"), "", delegationHeader, signed)
		require.NoError(t, err)
		if public != "" {
			require.Contains(t, string(r.body), `"signer.uri":"https://lake.example/sluice/api/table/iceberg"`)
		}
	}
}

// TestCaseE9 sends everything through a proxy that serves the site below a path.
func TestCaseE9(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	proxy := httptest.NewServer(http.StripPrefix("/sluice", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", strings.TrimPrefix(s.url, "http://")
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(502)
			return
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
	})))
	t.Cleanup(proxy.Close)
	o := s.open(t, "t", signed)
	body := signBody("GET", s.endpoint+"/lake/"+inBucket(o.Metadata.Location)+"/f", nil, nil)
	r, err := s.sendTo(t.Context(), "POST", proxy.URL+"/sluice/api/catalog/"+o.Config["signer.endpoint"], body)
	require.NoError(t, err)
	require.Equal(t, 200, r.StatusCode)
	r, err = s.sendTo(t.Context(), "GET", proxy.URL+"/sluice/api/catalog/"+s.open(t, "t", vended).Config["client.refresh-credentials-endpoint"], "")
	require.NoError(t, err)
	require.Equal(t, 200, r.StatusCode)
}

// TestCaseE4: a client that sends the signer no token but the table's gets its own in the answer, and no other client does.
func TestCaseE4(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	for agent, given := range map[string]bool{"PyIceberg/0.9.1": true, "PyIceberg/0.11.0": true, "PyIceberg/0.12.0": false, "Apache-HttpClient/5.4 (Java/17)": false, "PyIceberg/1.0.0": false} {
		r := s.get(t, tablePath("t"), delegationHeader, signed, "User-Agent", agent)
		var o opening
		r.into(t, &o)
		require.Equal(t, given, o.Config["token"] == s.token, agent)
		endpoint := "v1/main/namespaces/db/tables/t/sign"
		if strings.HasPrefix(agent, "PyIceberg") { // which has one signer for all tables
			endpoint = "v1/main/aws/s3/sign"
		}
		require.Equal(t, endpoint, o.Config["s3.signer.endpoint"], agent)
		require.Equal(t, given, r.Header.Get("Cache-Control") == "no-store", agent)
		require.NotContains(t, string(s.get(t, tablePath("t"), delegationHeader, vended, "User-Agent", agent).body), `"token"`)
	}
}

// TestCaseE10: the route that names no table finds it by the object, of two that look alike the right one, by both facades,
// with and without a catalog, and signs no more than the table's own route.
func TestCaseE10(t *testing.T) {
	s := newStoreSite(t)
	s.want(t, 200, s.post(t, "/namespaces/db/tables", `{"name":"t1","location":"s3://lake/main/db/t1","schema":`+columns+`}`))
	s.want(t, 200, s.post(t, "/namespaces/db/tables", `{"name":"t10","location":"s3://lake/main/db/t10","schema":`+columns+`}`))
	s.policy(t, "t10", models.OpenAppend)
	reader := s.person(t, "reader", models.Internal, models.TableReadData)
	stranger := s.person(t, "stranger", models.Internal, models.NamespaceList)
	for _, path := range []string{"/api/catalog/v1/aws/s3/sign", "/api/catalog/v1/main/aws/s3/sign", "/api/table/iceberg/v1/aws/s3/sign", "/api/table/iceberg/v1/main/aws/s3/sign"} {
		sign := func(who *storeSite, method, key string) reply {
			r, err := who.sendTo(t.Context(), "POST", s.url+path, signBody(method, s.endpoint+"/lake/"+key, nil, nil))
			require.NoError(t, err)
			return r
		}
		r := s.want(t, 200, sign(s, "PUT", "main/db/t1/data/new"))
		require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
		r = s.want(t, 200, sign(s, "GET", "main/db/t1/data/f"))
		require.Equal(t, "private", r.Header.Get("Cache-Control"), "a read may be signed once for many")
		s.want(t, 200, sign(s, "DELETE", "main/db/t1/data/f"))
		s.want(t, 403, sign(s, "DELETE", "main/db/t10/data/f"))
		s.want(t, 200, sign(reader, "GET", "main/db/t10/data/f"))
		s.want(t, 403, sign(reader, "PUT", "main/db/t1/data/f"))
		s.want(t, 403, sign(s, "GET", "main/db/t2/data/f"))
		hidden := s.want(t, 403, sign(stranger, "GET", "main/db/t1/data/f"))
		absent := s.want(t, 403, sign(stranger, "GET", "main/db/t2/data/f"))
		require.Equal(t, strings.ReplaceAll(string(absent.body), "t2", "t1"), string(hidden.body), "what one may not see looks as if it were not there")
	}
}

// TestCaseE11: of a batch of deletions each key is looked at, and one that is not the table's refuses them all.
func TestCaseE11(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	ctx, own := t.Context(), s.own(t)
	folder := inBucket(s.open(t, "t", signed).Metadata.Location) + "/data/"
	for _, key := range []string{folder + "a", folder + "b", "main/db/other"} {
		require.Empty(t, put(ctx, own, key))
	}
	batch := func(keys ...string) []byte {
		var b strings.Builder
		b.WriteString("<Delete>")
		for _, key := range keys {
			b.WriteString("<Object><Key>" + key + "</Key></Object>")
		}
		return []byte(b.String() + "</Delete>")
	}
	sum := func(body []byte) map[string][]string { return map[string][]string{"Content-MD5": {md5Of(body)}} }
	body := batch(folder+"a", "main/db/other")
	_, refused := s.bySigner(t, "t", "POST", "?delete", body, sum(body))
	require.Equal(t, 403, refused.StatusCode)
	require.Empty(t, get(ctx, own, folder+"a"))
	body = batch(folder+"a", folder+"b")
	s.policy(t, "t", models.OpenAppend)
	_, refused = s.bySigner(t, "t", "POST", "?delete", body, sum(body))
	require.Equal(t, 403, refused.StatusCode)
	require.Contains(t, string(refused.body), "db.t")
	s.policy(t, "t", models.OpenFull)
	status, _ := s.bySigner(t, "t", "POST", "?delete", body, sum(body))
	require.Equal(t, 200, status)
	require.NotEmpty(t, get(ctx, own, folder+"a"))
	require.Empty(t, get(ctx, own, "main/db/other"))
}

// TestCaseB2BySigner also covers M3: under open_append an object that is there stays as it is.
func TestCaseB2BySigner(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	ctx, own := t.Context(), s.own(t)
	file := inBucket(s.open(t, "t", signed).Metadata.Location) + "/data/f"
	for _, c := range []struct {
		policy             models.WritePolicy
		put, again, delete int // what the store says, 0 where the signer refuses
	}{
		{models.OpenAppend, 200, 412, 0}, {models.OpenFull, 200, 200, 204}, {models.GovernedOnly, 0, 0, 0},
	} {
		t.Run(string(c.policy), func(t *testing.T) {
			s.policy(t, "t", c.policy)
			name := file + string(c.policy)
			status, _ := s.bySigner(t, "t", "PUT", name, []byte("first"), nil)
			require.Equal(t, c.put, status)
			status, _ = s.bySigner(t, "t", "PUT", name, []byte("second"), nil)
			require.Equal(t, c.again, status)
			status, refused := s.bySigner(t, "t", "DELETE", name, nil, nil)
			require.Equal(t, c.delete, status)
			if status == 0 {
				require.Equal(t, 403, refused.StatusCode)
				require.Contains(t, string(refused.body), "table db.t")
			}
			if c.policy == models.OpenAppend {
				require.Empty(t, get(ctx, own, name))
			}
		})
	}
}

// TestSignIsOfferedWhereItIsServed: in the configuration of a catalog whose store is signed for.
func TestSignIsOfferedWhereItIsServed(t *testing.T) {
	const sign = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign"
	s := newStoreSite(t)
	config := func(s *site) string {
		r, err := s.sendTo(t.Context(), "GET", s.url+mount+"/v1/config?warehouse=main", "")
		require.NoError(t, err)
		return string(s.want(t, 200, r).body)
	}
	require.Contains(t, config(s.site), sign)
	s.property(t, "sluice.delegation", vended)
	require.NotContains(t, config(s.site), sign)
	local := newSite(t)
	require.NotContains(t, config(local), sign)
	require.Contains(t, config(local), "/credentials")
}
