package facade

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// TestCaseD10 is that keys of a table open that table and nothing else, whatever a neighbour is called: at the store itself.
func TestCaseD10(t *testing.T) {
	s := newStoreSite(t)
	ctx, own := t.Context(), s.own(t)
	s.want(t, 200, s.post(t, "/namespaces/db/tables", `{"name":"t1","location":"s3://lake/main/db/t1","schema":`+columns+`}`))
	s.want(t, 200, s.post(t, "/namespaces/db/tables", `{"name":"t10","location":"s3://lake/main/db/t10","schema":`+columns+`}`))
	neighbours := []string{
		"main/db/t10/data/f", "main/db/t1f", "main/db/f", "main/f", "main/other/f", "f", "second/db/t/data/f",
		"main/db/t1 /f", "main/db/T1/f", "main/db/t1%2Fdata/f",
	}
	for _, key := range append(neighbours, "main/db/t1/data/f") {
		require.Empty(t, put(ctx, own, key), key)
	}
	o := s.open(t, "t1", vended)
	c := s.client(t, o.Config)
	require.Empty(t, get(ctx, c, "main/db/t1/data/f"))
	require.Empty(t, put(ctx, c, "main/db/t1/data/new"))
	require.Empty(t, list(ctx, c, "main/db/t1/"))
	require.Empty(t, remove(ctx, c, "main/db/t1/data/new"), "the policy is open_full")
	for _, key := range neighbours {
		require.Equal(t, "AccessDenied", get(ctx, c, key), key)
		require.Equal(t, "AccessDenied", put(ctx, c, key), key)
		require.Equal(t, "AccessDenied", put(ctx, c, key+".new"), key)
		require.Equal(t, "AccessDenied", remove(ctx, c, key), key)
		require.Empty(t, get(ctx, own, key), "%s is still there", key)
	}
	for _, prefix := range []string{"", "main/", "main/db/", "main/db/t1", "main/db/t10/", "second/"} {
		require.Equal(t, "AccessDenied", list(ctx, c, prefix), prefix)
	}
	for o := range c.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: "main/db/t1/../t10/", Recursive: true}) {
		t.Errorf("the store took two dots for a way up: %s, %v", o.Key, o.Err)
	}
}

// TestCaseD1 also covers D2 and D3: keys run out soon, and the endpoint that came with them gives later ones.
func TestCaseD1(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	o := s.open(t, "t", vended)
	first := expiry(t, o.Config)
	require.WithinDuration(t, time.Now().Add(time.Minute), first, 10*time.Second)
	require.Equal(t, "v1/main/namespaces/db/tables/t/credentials", o.Config["client.refresh-credentials-endpoint"])

	time.Sleep(1100 * time.Millisecond) // the store's clock has seconds
	r, err := s.send(t.Context(), "GET", "/namespaces/db/tables/t/credentials", "")
	require.NoError(t, err)
	require.Equal(t, "no-store", s.want(t, 200, r).Header.Get("Cache-Control"))
	var renewed opening
	r.into(t, &renewed)
	require.Len(t, renewed.Credentials, 1)
	require.Equal(t, o.Metadata.Location, renewed.Credentials[0].Prefix)
	require.True(t, expiry(t, renewed.Credentials[0].Config).After(first), "%s is not after %s", expiry(t, renewed.Credentials[0].Config), first)
	require.Empty(t, put(t.Context(), s.client(t, renewed.Credentials[0].Config), inBucket(o.Metadata.Location)+"/data/f"))
	require.Equal(t, o.Config["client.refresh-credentials-endpoint"], renewed.Credentials[0].Config["client.refresh-credentials-endpoint"])
}

func expiry(t *testing.T, config map[string]string) time.Time {
	t.Helper()
	ms, err := strconv.ParseInt(config["s3.session-token-expires-at-ms"], 10, 64)
	require.NoError(t, err)
	return time.UnixMilli(ms)
}

// TestCaseD7: a client that reads config and one that reads storage-credentials get the same.
func TestCaseD7(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	o := s.open(t, "t", vended)
	require.Len(t, o.Credentials, 1)
	require.Equal(t, o.Metadata.Location, o.Credentials[0].Prefix)
	require.Equal(t, keysOnly(o.Config), keysOnly(o.Credentials[0].Config))
	require.Equal(t, s.endpoint, o.Config["s3.endpoint"])
	require.Equal(t, "true", o.Config["s3.path-style-access"])
	require.Equal(t, "us-east-1", o.Config["client.region"])
	require.Equal(t, vended, o.Config["sluice.access-delegation"])
	require.Nil(t, o.Signing)

	r := s.get(t, tablePath("t"), delegationHeader, vended)
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"), "keys are in no cache")
	require.Equal(t, "private, no-cache", s.get(t, tablePath("t")).Header.Get("Cache-Control"))
}

// TestCaseD5: a table that is staged has keys, may be asked for new ones, and what nobody staged is not there.
func TestCaseD5(t *testing.T) {
	s := newStoreSite(t)
	const credentials = "/namespaces/db/tables/ctas/credentials"
	s.want(t, 404, s.get(t, credentials))
	stage := strings.TrimSuffix(createBody("ctas"), "}") + `,"stage-create":true}`
	var o opening
	s.want(t, 200, s.post(t, "/namespaces/db/tables", stage, delegationHeader, vended)).into(t, &o)
	ctx := t.Context()
	file := inBucket(o.Metadata.Location) + "/data/f"
	require.Empty(t, put(ctx, s.client(t, o.Config), file))
	var renewed opening
	s.want(t, 200, s.get(t, credentials)).into(t, &renewed)
	require.Len(t, renewed.Credentials, 1)
	require.Equal(t, o.Metadata.Location, renewed.Credentials[0].Prefix)
	require.Empty(t, get(ctx, s.client(t, renewed.Credentials[0].Config), file))
	require.Equal(t, "AccessDenied", put(ctx, s.client(t, renewed.Credentials[0].Config), "main/db/f"))
	status, _ := s.bySigner(t, "ctas", "GET", file, nil, nil)
	require.Equal(t, 200, status, "it is signed for as well")
	s.want(t, 404, s.get(t, tablePath("ctas")))

	// Two who stage one name have a folder each; the one's keys do not open the other's.
	other := s.person(t, "other", models.Internal, models.TableCreate, models.TableWriteData)
	var second opening
	other.want(t, 200, other.post(t, "/namespaces/db/tables", stage, delegationHeader, vended)).into(t, &second)
	require.NotEqual(t, o.Metadata.Location, second.Metadata.Location)
	require.Equal(t, "AccessDenied", get(ctx, s.client(t, second.Config), file))
	third := s.person(t, "third", models.Internal, models.TableCreate, models.TableWriteData)
	third.want(t, 404, third.get(t, credentials))

	// Nothing else may be made where it is to be.
	r := s.want(t, 403, s.post(t, "/namespaces/db/tables", `{"name":"x","location":"`+o.Metadata.Location+`/inner","schema":`+columns+`}`))
	require.Contains(t, string(r.body), "db.ctas (being created)")
	s.want(t, 403, s.post(t, "/namespaces/db/tables", `{"name":"x","stage-create":true,"location":"`+o.Metadata.Location+`","schema":`+columns+`}`))

	// It becomes the table where it was staged, and the other's is over.
	commit := `{"requirements":[{"type":"assert-create"}],"updates":[{"action":"assign-uuid","uuid":"` + o.Metadata.UUID + `"},
		{"action":"upgrade-format-version","format-version":2},{"action":"add-schema","schema":` + columns + `,"last-column-id":2},{"action":"set-current-schema","schema-id":-1},
		{"action":"add-spec","spec":{"spec-id":0,"fields":[]}},{"action":"set-default-spec","spec-id":-1},
		{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}},{"action":"set-default-sort-order","sort-order-id":-1},
		{"action":"set-location","location":"` + o.Metadata.Location + `"},{"action":"set-properties","updates":{}}]}`
	s.want(t, 200, s.post(t, tablePath("ctas"), commit))
	s.want(t, 200, s.get(t, credentials)).into(t, &renewed)
	require.Equal(t, o.Metadata.Location, renewed.Credentials[0].Prefix)
	staged, err := s.db.StagedCreates(ctx, s.namespace(t), "ctas", s.principal(t, "other"))
	require.NoError(t, err)
	require.Empty(t, staged)
}

// namespace gives the id of db.
func (s *storeSite) namespace(t *testing.T) string {
	t.Helper()
	cat, err := s.db.CatalogByName(t.Context(), "main")
	require.NoError(t, err)
	chain, err := s.db.NamespacePath(t.Context(), cat.ID, models.KeyOf([]string{"db"}))
	require.NoError(t, err)
	return chain[0].ID
}

func (s *storeSite) principal(t *testing.T, name string) string {
	t.Helper()
	p, err := s.db.PrincipalByName(t.Context(), name)
	require.NoError(t, err)
	return p.ID
}

// TestCaseD9: files go where keys reach, or the property is refused.
func TestCaseD9(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	location := s.open(t, "t", vended).Metadata.Location
	set := func(key, value string) reply {
		return s.post(t, tablePath("t"), `{"requirements":[],"updates":[{"action":"set-properties","updates":{"`+key+`":"`+value+`"}}]}`)
	}
	for _, key := range []string{"write.data.path", "write.object-storage.path", "write.folder-storage.path", "write.metadata.path"} {
		s.want(t, 403, set(key, "s3://lake/main/db/elsewhere"))
		s.want(t, 403, set(key, location+"x"))
		s.want(t, 403, set(key, "s3://other/main/db/t"))
		s.want(t, 403, s.post(t, "/namespaces/db/tables", `{"name":"u","schema":`+columns+`,"properties":{"`+key+`":"`+location+`"}}`))
		s.want(t, 200, set(key, location+"/inner"))
		if key != "write.metadata.path" {
			s.want(t, 403, set(key, location+"/metadata/data")) // more may read what is there
		}
	}
	c := s.client(t, s.open(t, "t", vended).Config)
	require.Empty(t, put(t.Context(), c, inBucket(location)+"/inner/f"))
}

// TestCaseD11 also covers D14: a store without a token service is never asked for keys; requests are signed instead, and
// the answer says so.
func TestCaseD11(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	counted := httptest.NewServer(s.sts)
	t.Cleanup(counted.Close)
	s.catalog(t, func(c *models.Catalog) {
		c.Storage.V.Type, c.Storage.V.STSUnavailable, c.Storage.V.STSEndpoint = models.S3Storage, true, counted.URL
	})
	o := s.open(t, "t", vended)
	require.Equal(t, "true", o.Config["s3.remote-signing-enabled"])
	require.Equal(t, signed, o.Config["sluice.access-delegation"])
	require.NotNil(t, o.Signing)
	require.Empty(t, o.Credentials)
	for _, k := range []string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token"} {
		require.NotContains(t, o.Config, k)
	}
	r := s.want(t, 200, s.get(t, tablePath("t")+"/credentials"))
	require.JSONEq(t, `{"storage-credentials":[]}`, string(r.body))
	require.Zero(t, s.sts.calls.Load())

	s.property(t, "sluice.delegation", vended)
	require.Empty(t, s.open(t, "t", vended).Config, "signing is not allowed, keys are not to be had")
	s.property(t, "sluice.delegation", "none")
	require.Empty(t, s.open(t, "t", vended+","+signed).Config)
	s.want(t, 406, s.post(t, tablePath("t")+"/sign", signBody("GET", s.endpoint+"/lake/x", nil, nil)))
	require.Zero(t, s.sts.calls.Load())
}

// TestWaysInByOrder: the first that is asked for and allowed is taken.
func TestWaysInByOrder(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	for _, c := range []struct{ allowed, asked, given string }{
		{"any", vended, vended}, {"any", signed, signed}, {"any", signed + ", " + vended, signed}, {"any", vended + "," + signed, vended},
		{"any", "Vended-Credentials", vended}, {"any", "other," + signed, signed}, {"any", "other", ""}, {"any", "", ""},
		{vended, signed, vended}, {signed, vended, signed}, {"none", vended, ""}, {"nonsense", vended, ""},
	} {
		s.property(t, "sluice.delegation", c.allowed)
		require.Equal(t, c.given, s.open(t, "t", c.asked).Config["sluice.access-delegation"], "%+v", c)
	}
}

// TestCaseB2 is what keys may do under each write policy, at the store.
func TestCaseB2(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	ctx, own := t.Context(), s.own(t)
	file := inBucket(s.open(t, "t", vended).Metadata.Location) + "/data/f"
	require.Empty(t, put(ctx, own, file))
	for _, c := range []struct {
		policy                models.WritePolicy
		write, replace, erase bool // by keys: a session policy cannot tell a new object from a replaced one
	}{
		{models.GovernedOnly, false, false, false}, {models.OpenAppend, true, true, false}, {models.OpenFull, true, true, true},
	} {
		t.Run(string(c.policy), func(t *testing.T) {
			s.policy(t, "t", c.policy)
			with := s.client(t, s.open(t, "t", vended).Config)
			require.Empty(t, get(ctx, with, file))
			require.Equal(t, c.write, put(ctx, with, file+"-new-"+string(c.policy)) == "")
			require.Equal(t, c.replace, put(ctx, with, file) == "")
			require.Equal(t, c.erase, remove(ctx, with, file) == "")
			if !c.erase {
				require.Empty(t, get(ctx, own, file), "it is still there")
			}
			// A batch is refused key by key.
			require.Empty(t, put(ctx, own, file))
			queue := make(chan minio.ObjectInfo, 1)
			queue <- minio.ObjectInfo{Key: file}
			close(queue)
			for failed := range with.RemoveObjects(ctx, bucket, queue, minio.RemoveObjectsOptions{}) {
				require.False(t, c.erase, failed.Err)
			}
			require.Equal(t, c.erase, get(ctx, own, file) != "")
		})
	}
}

// TestCaseE14: a file in parts, by keys.
func TestCaseE14(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	s.policy(t, "t", models.OpenAppend)
	o := s.open(t, "t", vended)
	c, body := s.client(t, o.Config), bytes.Repeat([]byte("0123456789abcdef"), 3*5<<20/16)
	name := inBucket(o.Metadata.Location) + "/data/large"
	_, err := c.PutObject(t.Context(), bucket, name, bytes.NewReader(body), int64(len(body)), minio.PutObjectOptions{PartSize: 5 << 20})
	require.NoError(t, err)
	core := minio.Core{Client: c}
	id, err := core.NewMultipartUpload(t.Context(), bucket, name+"2", minio.PutObjectOptions{})
	require.NoError(t, err)
	_, err = core.PutObjectPart(t.Context(), bucket, name+"2", id, 1, bytes.NewReader(body[:5<<20]), 5<<20, minio.PutObjectPartOptions{})
	require.NoError(t, err)
	parts, err := core.ListObjectParts(t.Context(), bucket, name+"2", id, 0, 10)
	require.NoError(t, err)
	require.Len(t, parts.ObjectParts, 1)
	require.NoError(t, core.AbortMultipartUpload(t.Context(), bucket, name+"2", id))
	_, err = core.NewMultipartUpload(t.Context(), bucket, "main/db/other", minio.PutObjectOptions{})
	require.Equal(t, "AccessDenied", code(err))
}

// TestPlansGiveKeys: who may plan a scan and asks gets the keys of its files with the plan.
func TestPlansGiveKeys(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	r := s.want(t, 200, s.post(t, tablePath("t")+"/plan", `{}`, delegationHeader, vended))
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	var plan struct {
		opening
		ID string `json:"plan-id"`
	}
	r.into(t, &plan)
	require.Len(t, plan.Credentials, 1)
	require.Empty(t, list(t.Context(), s.client(t, plan.Credentials[0].Config), inBucket(plan.Credentials[0].Prefix)+"/"))
	require.NotContains(t, string(s.post(t, tablePath("t")+"/plan", `{}`).body), "storage-credentials")
	s.want(t, 200, s.get(t, tablePath("t")+"/credentials?planId="+plan.ID))
}

// TestAKeptLoadNeverHasKeysThatRanOut: a load that a client keeps is good for a quarter of the life of its keys.
func TestAKeptLoadNeverHasKeysThatRanOut(t *testing.T) {
	clock := time.Now().UTC().Truncate(time.Minute)
	s := newStoreSite(t, func(s *setup) { s.core.Now = func() time.Time { return clock } })
	s.create(t, "t")
	load := func(way, tag string) reply {
		return s.get(t, tablePath("t"), delegationHeader, way, "If-None-Match", tag)
	}
	keys := load(vended, "").Header.Get("ETag")
	signing, plain := load(signed, "").Header.Get("ETag"), load("", "").Header.Get("ETag")
	require.NotEqual(t, keys, signing)
	require.NotEqual(t, keys, plain)
	require.NotEqual(t, signing, plain)
	s.want(t, 304, load(vended, keys))
	s.want(t, 200, load(vended, plain))
	s.want(t, 200, load(signed, keys))
	clock = clock.Add(16 * time.Second) // keys live a minute
	require.NotEmpty(t, s.want(t, 200, load(vended, keys)).body)
	s.want(t, 304, load(signed, signing))
	s.want(t, 304, load("", plain))

	// Other rights are another answer, and so is another person's.
	keys = load(vended, "").Header.Get("ETag")
	s.policy(t, "t", models.OpenAppend)
	s.want(t, 200, load(vended, keys))
	keys = load(vended, "").Header.Get("ETag")
	reader := s.person(t, "reader", models.Internal, models.TableReadData)
	reader.want(t, 200, reader.get(t, tablePath("t"), delegationHeader, vended, "If-None-Match", keys))

	// The answer to a commit has no keys, and is not taken for a load that has.
	commit := s.want(t, 200, s.post(t, tablePath("t"), `{"requirements":[],"updates":[{"action":"set-properties","updates":{"a":"b"}}]}`, delegationHeader, vended))
	s.want(t, 200, load(vended, commit.Header.Get("ETag")))
	s.want(t, 304, load("", commit.Header.Get("ETag")))
}

// TestCreatesGiveKeys: directly, registered, and to who may create and nothing else (B4).
func TestCreatesGiveKeys(t *testing.T) {
	s := newStoreSite(t)
	ctx := t.Context()
	var o opening
	s.want(t, 200, s.post(t, "/namespaces/db/tables", createBody("t"), delegationHeader, vended)).into(t, &o)
	require.Empty(t, put(ctx, s.client(t, o.Config), inBucket(o.Metadata.Location)+"/data/f"))
	file := s.load(t, "t").MetadataLocation
	s.want(t, 200, s.post(t, tablePath("t")+"/unregister", ""))
	s.want(t, 200, s.post(t, "/namespaces/db/register", toJSON(map[string]string{"name": "t", "metadata-location": file}), delegationHeader, vended)).into(t, &o)
	require.Empty(t, get(ctx, s.client(t, o.Config), inBucket(o.Metadata.Location)+"/data/f"))

	creator := s.person(t, "creator", models.Internal, models.TableCreate)
	for _, header := range []string{"", vended} {
		r := creator.want(t, 200, creator.post(t, "/namespaces/db/tables", createBody("c"+strconv.Itoa(len(header))), delegationHeader, header))
		var none struct{ Config json.RawMessage }
		r.into(t, &none)
		require.JSONEq(t, `{}`, string(none.Config))
	}
}
