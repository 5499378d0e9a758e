package signing

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func TestRightsDecideEachOperation(t *testing.T) {
	const data, meta = "/lake/" + table + "/data/f", "/lake/" + table + "/metadata/m.avro"
	const fromData = "/lake/" + table + "/data/g"
	type row struct {
		method, path, copyFrom, body string
		want                         string // + or - for: none, reader, write-only, appender, full
	}
	for _, c := range []row{
		{"GET", data, "", "", "-+-++"},
		{"HEAD", data, "", "", "-+-++"},
		{"GET", meta, "", "", "-++++"},
		{"HEAD", meta, "", "", "-++++"},
		{"PUT", data, "", "", "--+++"},
		{"PUT", meta, "", "", "--+++"},
		{"POST", data + "?uploads", "", "", "--+++"},
		{"PUT", data + "?partNumber=1&uploadId=u", "", "", "--+++"},
		{"GET", data + "?uploadId=u", "", "", "--+++"},
		{"POST", data + "?uploadId=u", "", "", "--+++"},
		{"DELETE", data + "?uploadId=u", "", "", "--+++"},
		{"PUT", data, fromData, "", "----+"},
		{"PUT", data + "?partNumber=1&uploadId=u", fromData, "", "---++"},
		{"PUT", data + "?partNumber=1&uploadId=u", meta, "", "--+++"},
		{"DELETE", data, "", "", "----+"},
		{"DELETE", meta, "", "", "----+"},
		{"POST", "/lake?delete", "", deleteBody, "----+"},
		{"GET", "/lake?list-type=2&prefix=wh/ns/t1/", "", "", "-+-++"},
		{"GET", "/lake?list-type=2&prefix=wh/ns/t1/data/", "", "", "-+-++"},
		{"GET", "/lake?list-type=2&prefix=wh/ns/t1/meta", "", "", "-+-++"}, // names more than the metadata
		{"GET", "/lake?list-type=2&prefix=wh/ns/t1/metadata/", "", "", "-++++"},
		{"HEAD", "/lake", "", "", "-++++"},
		{"GET", "/lake?location", "", "", "-++++"},
	} {
		for i, rights := range []models.StorageRights{{}, reader(), writeOnly(), appender(), full()} {
			r := request(c.method, c.path)
			if c.copyFrom != "" {
				r.Headers["x-amz-copy-source"] = []string{c.copyFrom}
			}
			r.Body = c.body
			_, err := newSigner().Sign(profile(), t1(rights), r)
			if c.want[i] == '+' {
				assert.NoError(t, err, "%s %s as %+v", c.method, c.path, rights)
			} else {
				assert.True(t, fault.Is(err, fault.Forbidden), "%s %s as %+v: %v", c.method, c.path, rights, err)
			}
		}
	}
}

func TestNothingBesideTheTable(t *testing.T) {
	deleting := func(keys ...string) string {
		var b strings.Builder
		b.WriteString("<Delete>")
		for _, key := range keys {
			b.WriteString("<Object><Key>" + key + "</Key></Object>")
		}
		return b.String() + "</Delete>"
	}
	for _, r := range []Request{
		request("GET", "/lake/wh/ns/t10/data/f"),
		request("GET", "/lake/wh/ns/t1x"),
		request("GET", "/lake/wh/ns/t1%20/f"),
		request("GET", "/lake/wh/ns/f"),
		request("GET", "/lake/wh/ns"),
		request("GET", "/lake/wh/ns/T1/f"),
		request("GET", "/lake/wh/ns%2541/t1/f"),
		request("GET", "/other/wh/ns/t1/f"),
		request("HEAD", "/other"),
		request("GET", "/other?location"),
		request("PUT", "/lake/wh/ns/t10/data/f"),
		request("PUT", "/lake/wh/ns/t1"), // an object where the folder is
		request("PUT", "/lake/wh/ns/t1/metadata"),
		request("DELETE", "/lake/wh/ns/t10/data/f"),
		request("DELETE", "/lake/wh/ns/t1"),
		request("PUT", "/lake/wh/ns/t1/f", "x-amz-copy-source", "/lake/wh/ns/t10/data/f"),
		request("PUT", "/lake/wh/ns/t1/f", "x-amz-copy-source", "/other/wh/ns/t1/f"),
		request("PUT", "/lake/wh/ns/t1/f?partNumber=1&uploadId=u", "x-amz-copy-source", "/lake/wh/ns/t10/data/f"),
		request("GET", "/lake?list-type=2&prefix=wh/ns/t10/"),
		request("GET", "/lake?list-type=2&prefix=wh/ns/"),
		request("GET", "/lake?list-type=2&prefix=wh/ns/t"),
		request("GET", "/lake?list-type=2&prefix=wh/ns/t1%20"),
		request("GET", "/other?list-type=2&prefix=wh/ns/t1/"),
		{Method: "POST", URI: store + "/lake?delete", Body: deleting("wh/ns/t1/data/a", "wh/ns/t10/data/a")},
		{Method: "POST", URI: store + "/lake?delete", Body: deleting("wh/ns/t10/data/a", "wh/ns/t1/data/a")},
		{Method: "POST", URI: store + "/other?delete", Body: deleting("wh/ns/t1/data/a")},
	} {
		_, err := newSigner().Sign(profile(), t1(full()), r)
		assert.True(t, fault.Is(err, fault.Forbidden), "%s %s: %v", r.Method, r.URI, err)
	}
}

func TestListingsOfTheTableItselfGetTheSlash(t *testing.T) {
	for given, want := range map[string]string{
		"wh/ns/t1": "wh/ns/t1/", "wh/ns/t1/": "wh/ns/t1/", "wh/ns/t1/d": "wh/ns/t1/d", "wh/ns/t1/metadata": "wh/ns/t1/metadata/",
	} {
		signed, err := newSigner().Sign(profile(), t1(reader()), request("GET", "/lake?list-type=2&prefix="+given+"&delimiter=/"))
		require.NoError(t, err)
		u, err := url.Parse(signed.URI)
		require.NoError(t, err)
		assert.Equal(t, want, u.Query().Get("prefix"))
		assert.Equal(t, "/", u.Query().Get("delimiter"))
	}
}

func TestWritesWithoutOverwriteAreConditional(t *testing.T) {
	const object = "/lake/" + table + "/data/f"
	condition := func(rights models.StorageRights, p Profile, r Request) []string {
		signed, err := newSigner().Sign(p, t1(rights), r)
		require.NoError(t, err)
		value := signed.Headers["If-None-Match"]
		if value == nil {
			value = signed.Headers["if-none-match"]
		}
		if value != nil {
			assert.Contains(t, signed.Headers["Authorization"][0], "if-none-match")
		}
		return value
	}
	assert.Equal(t, []string{"*"}, condition(appender(), profile(), request("PUT", object)))
	assert.Equal(t, []string{"*"}, condition(appender(), profile(), request("PUT", object, "if-none-match", "*")))
	assert.Equal(t, []string{"*"}, condition(writeOnly(), profile(), request("POST", object+"?uploadId=u")))
	assert.Empty(t, condition(appender(), profile(), request("POST", object+"?uploads")), "nothing is written yet")
	assert.Empty(t, condition(appender(), profile(), request("PUT", object+"?partNumber=1&uploadId=u")))
	assert.Empty(t, condition(full(), profile(), request("PUT", object)))
	assert.Equal(t, []string{"*"}, condition(full(), profile(), request("PUT", object, "If-None-Match", "*")), "the client's own")

	unconditional := profile()
	unconditional.Unconditional = true
	assert.Empty(t, condition(appender(), unconditional, request("PUT", object)))

	for _, header := range []string{"If-Match", "If-None-Match"} {
		_, err := newSigner().Sign(profile(), t1(appender()), request("PUT", object, header, `"etag"`))
		assert.True(t, fault.Is(err, fault.Forbidden), "%v", err)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		rights models.StorageRights
		r      Request
		says   []string
	}{
		{appender(), request("DELETE", "/lake/wh/ns/t1/data/f"), []string{"write policy of table ns.t1", "nobody delete", "open_full"}},
		{reader(), request("DELETE", "/lake/wh/ns/t1/data/f"), []string{"TABLE_WRITE_DATA", "ns.t1"}},
		{reader(), request("PUT", "/lake/wh/ns/t1/data/f"), []string{"TABLE_WRITE_DATA", "ns.t1"}},
		{writeOnly(), request("GET", "/lake/wh/ns/t1/data/f"), []string{"TABLE_READ_DATA", "ns.t1", "clearance", "governed query"}},
		{full(), request("GET", "/lake/wh/ns/t10/f"), []string{"s3://lake/wh/ns/t10/f", "ns.t1"}},
		{full(), request("GET", "/lake/wh/ns/t1/f?acl"), []string{"?acl", "not signed"}},
		{full(), request("PUT", "/lake/wh/ns/t1/f", "x-amz-acl", "public-read"), []string{"x-amz-acl"}},
		{full(), request("POST", "/lake?delete"), []string{"body"}},
		{full(), request("PUT", "/lake/wh/ns/t1/f", "x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), []string{"s3.chunked-encoding-enabled=false"}},
	} {
		_, err := newSigner().Sign(profile(), t1(c.rights), c.r)
		require.Error(t, err)
		for _, words := range c.says {
			assert.Contains(t, fault.PublicMessage(err), words)
		}
		assert.NotContains(t, fault.PublicMessage(err), "secret")
	}
}

func TestTheInnermostAreaDecides(t *testing.T) {
	access := models.StorageAccess{Table: "t", Rights: writeOnly(), Areas: []models.StorageArea{
		{Prefix: "s3://lake/t"}, {Prefix: "s3://lake/t/metadata", Metadata: true}, {Prefix: "s3://lake/t/metadata/data"},
		{Prefix: "s3://elsewhere/m", Metadata: true}, {Prefix: "s3://both/x", Metadata: true}, {Prefix: "s3://both/x"},
		{Prefix: "not a location"}, {Prefix: "file:///lake/t"},
	}}
	for path, readable := range map[string]bool{
		"/lake/t/f": false, "/lake/t/metadata/f": true, "/lake/t/metadata/data/f": false, "/lake/t/metadata2/f": false,
		"/elsewhere/m/f": true, "/both/x/f": false,
	} {
		_, err := newSigner().Sign(profile(), access, request("GET", path))
		assert.Equal(t, readable, err == nil, "%s: %v", path, err)
	}
	_, err := newSigner().Sign(profile(), access, request("GET", "/lake?prefix=t/metadata/"))
	assert.Error(t, err, "data lies within that may not be read")
}

func TestKeysOfTheKeyService(t *testing.T) {
	const header, object = "x-amz-server-side-encryption-aws-kms-key-id", "/lake/wh/ns/t1/f"
	p := profile()
	for _, key := range []string{"", "k1", "other"} {
		_, err := newSigner().Sign(p, t1(full()), request("PUT", object, header, key))
		assert.NoError(t, err)
	}
	p.Config.AllowedKMSKeys, p.Config.CurrentKMSKey = []string{"k1"}, "k0"
	for key, ok := range map[string]bool{"k0": true, "k1": true, "other": false} {
		_, err := newSigner().Sign(p, t1(full()), request("PUT", object, header, key))
		assert.Equal(t, ok, err == nil, key)
	}
}
