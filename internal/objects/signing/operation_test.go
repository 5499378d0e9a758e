package signing

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const deleteBody = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>wh/ns/t1/data/a</Key></Object></Delete>`

func TestKnownRequests(t *testing.T) {
	const object = "/lake/" + table + "/data/f.parquet"
	const at = "s3://lake/" + table + "/data/f.parquet"
	for _, c := range []struct {
		method, path string
		headers      []string
		op           operation
		location     string
	}{
		{"GET", object, []string{"Range", "bytes=0-99"}, readObject, at},
		{"GET", object + "?x-id=GetObject", nil, readObject, at},
		{"GET", object + "?partNumber=1", nil, readObject, at},
		{"HEAD", object, nil, readObject, at},
		{"PUT", object, nil, putObject, at},
		{"PUT", object + "?x-id=PutObject", []string{"Expect", "100-continue"}, putObject, at},
		{"PUT", "/lake/" + table + "/data/", nil, putObject, "s3://lake/" + table + "/data"},
		{"PUT", object, []string{"x-amz-copy-source", "/lake/wh/ns/t1/data/g"}, copyObject, at},
		{"POST", object + "?uploads", nil, createUpload, at},
		{"POST", object + "?uploads=", nil, createUpload, at},
		{"PUT", object + "?partNumber=3&uploadId=u%2B1", nil, uploadPart, at},
		{"PUT", object + "?uploadId=u&partNumber=3", []string{"x-amz-copy-source", "lake/wh/ns/t1/data/g"}, uploadPartCopy, at},
		{"GET", object + "?uploadId=u&max-parts=100", nil, listParts, at},
		{"POST", object + "?uploadId=u", nil, completeUpload, at},
		{"DELETE", object + "?uploadId=u", nil, abortUpload, at},
		{"DELETE", object, nil, deleteObject, at},
		{"POST", "/lake?delete", nil, deleteObjects, "s3://lake/wh/ns/t1/data/a"},
		{"POST", "/lake/?delete=", nil, deleteObjects, "s3://lake/wh/ns/t1/data/a"},
		{"GET", "/lake?list-type=2&prefix=wh%2Fns%2Ft1%2F&delimiter=%2F&max-keys=1000&encoding-type=url", nil, listObjects, "s3://lake/" + table},
		{"GET", "/lake/?prefix=wh/ns/t1/data&marker=x", nil, listObjects, "s3://lake/" + table + "/data"},
		{"HEAD", "/lake", nil, askBucket, "s3://lake"},
		{"GET", "/lake?location", nil, askBucket, "s3://lake"},
	} {
		r := request(c.method, c.path, c.headers...)
		if c.op == deleteObjects {
			r.Body = deleteBody
		}
		got := understood(t, profile(), r)
		assert.Equal(t, c.op, got.op, "%s %s", c.method, c.path)
		location, err := Locate(profile(), r)
		require.NoError(t, err)
		assert.Equal(t, c.location, location, "%s %s", c.method, c.path)
		_, err = newSigner().Sign(profile(), t1(full()), r)
		require.NoError(t, err, "%s %s", c.method, c.path)
	}
}

func TestUnknownRequestsAreNotSigned(t *testing.T) {
	const object = "/lake/" + table + "/data/f.parquet"
	forbidden, invalid := fault.Forbidden, fault.Invalid
	for _, c := range []struct {
		method, path string
		headers      []string
		code         fault.Code
	}{
		{"GET", object + "?acl", nil, forbidden},
		{"PUT", object + "?acl", nil, forbidden},
		{"GET", object + "?tagging", nil, forbidden},
		{"PUT", object + "?tagging", nil, forbidden},
		{"GET", object + "?attributes", nil, forbidden},
		{"GET", object + "?versionId=1", nil, forbidden},
		{"DELETE", object + "?versionId=1", nil, forbidden},
		{"GET", object + "?torrent", nil, forbidden},
		{"GET", object + "?retention", nil, forbidden},
		{"GET", object + "?response-content-type=text/html", nil, forbidden},
		{"PUT", object + "?renameObject", nil, forbidden},
		{"PUT", object + "?uploadId=u", nil, forbidden},
		{"PUT", object + "?partNumber=0&uploadId=u", nil, forbidden},
		{"PUT", object + "?partNumber=1", nil, forbidden},
		{"PUT", object + "?partNumber=1&uploadId=..%2F..%2Ft2", nil, forbidden},
		{"POST", object + "?uploadId=a%00b", nil, forbidden},
		{"POST", object, nil, forbidden},
		{"POST", object + "?select&select-type=2", nil, forbidden},
		{"POST", object + "?restore", nil, forbidden},
		{"POST", object + "?uploads&uploadId=u", nil, forbidden},
		{"POST", object + "?delete", nil, forbidden},
		{"PATCH", object, nil, forbidden},
		{"OPTIONS", object, nil, forbidden},
		{"get", object, nil, forbidden},
		{"", object, nil, forbidden},
		{"GET", object, []string{"x-amz-copy-source", "/lake/wh/ns/t1/data/g"}, forbidden},
		{"PUT", object, []string{"x-amz-copy-source", ""}, forbidden},
		{"PUT", object, []string{"x-amz-acl", "public-read"}, forbidden},
		{"PUT", object, []string{"X-Amz-Grant-Read", "uri=everybody"}, forbidden},
		{"PUT", object, []string{"x-amz-tagging", "a=b"}, forbidden},
		{"PUT", object, []string{"x-amz-object-lock-mode", "GOVERNANCE"}, forbidden},
		{"PUT", object, []string{"x-amz-write-offset-bytes", "10"}, forbidden},
		{"PUT", object, []string{"x-amz-rename-source", "/wh/t2/f"}, forbidden},
		{"PUT", object, []string{"x-amz-bypass-governance-retention", "true"}, forbidden},
		{"PUT", object, []string{"x-amz-what-comes-next", "1"}, forbidden},
		{"PUT", object, []string{"x-amz-meta-a", "1", "x-amz-meta-a", "2"}, invalid},
		{"PUT", object, []string{"x-amz-meta-a", "1", "X-Amz-Meta-A", "2"}, invalid},
		{"PUT", object, []string{"x-amz-meta-a", "1\r\nx-amz-acl: public-read"}, invalid},
		{"GET", object, []string{"Host", "other.example:9000"}, invalid},
		{"PUT", object, []string{"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}, invalid},
		{"PUT", object, []string{"x-amz-content-sha256", "no hash"}, invalid},

		{"GET", "/", nil, forbidden},
		{"GET", "/?location", nil, forbidden},
		{"GET", "/lake", nil, forbidden},
		{"GET", "/lake?list-type=2", nil, forbidden},
		{"GET", "/lake?list-type=2&prefix=", nil, forbidden},
		{"GET", "/lake?list-type=1&prefix=wh/ns/t1/", nil, forbidden},
		{"GET", "/lake?prefix=wh/ns/t1/&max-keys=many", nil, forbidden},
		{"GET", "/lake?versions&prefix=wh/ns/t1/", nil, forbidden},
		{"GET", "/lake?uploads&prefix=wh/ns/t1/", nil, forbidden},
		{"GET", "/lake?policy", nil, forbidden},
		{"PUT", "/lake?policy", nil, forbidden},
		{"GET", "/lake?lifecycle", nil, forbidden},
		{"PUT", "/lake?lifecycle", nil, forbidden},
		{"GET", "/lake?location=x", nil, forbidden},
		{"PUT", "/lake", nil, forbidden},
		{"DELETE", "/lake", nil, forbidden},
		{"POST", "/lake", nil, forbidden},
		{"POST", "/lake?delete", nil, invalid}, // no body

		{"GET", "/lake/wh/ns/t1/../t2/f", nil, invalid},
		{"GET", "/lake/wh/ns/t1/%2e%2e/t2/f", nil, invalid},
		{"GET", "/lake/wh/ns/t1/%252e%252e/t2/f", nil, invalid},
		{"GET", "/lake/wh/ns/t1/..%252ft2/f", nil, invalid},
		{"GET", "/lake/wh/ns/t1/./f", nil, invalid},
		{"GET", "/lake/wh/ns/t1//f", nil, invalid},
		{"GET", "/lake//", nil, invalid},
		{"GET", "/lake/wh%2Fns%2Ft1/f", nil, invalid},
		{"GET", "/lake/wh/ns/t1/a%00b", nil, invalid},
		{"GET", "/lake/wh/ns/t1/a%0ab", nil, invalid},
		{"GET", "/lake/wh/ns/t1/a%5C..%5Cb", nil, invalid},
		{"GET", "/lake/wh/ns/t1/a\\b", nil, invalid},
		{"GET", "/lake/wh/ns/t1/%zz", nil, invalid},
		{"GET", "/lake/wh/ns/t1/%ff", nil, invalid},
		{"GET", "/lake/wh/ns/t1/a b", nil, invalid},
		{"GET", "/lake/wh/ns/t1/f#x", nil, invalid},
		{"GET", object + "?x-id=a&x-id=b", nil, invalid},
		{"GET", object + "?x-id=%", nil, invalid},
		{"GET", object + "?x-id=a;uploadId=b", nil, invalid},
		{"GET", "/LAKE/wh/ns/t1/f", nil, invalid},
		{"GET", "/../lake/wh/ns/t1/f", nil, invalid},

		{"PUT", object, []string{"x-amz-copy-source", "/lake/wh/ns/t1/a?versionId=1"}, invalid},
		{"PUT", object, []string{"x-amz-copy-source", "/lake/wh/ns/t1/a+b"}, invalid},
		{"PUT", object, []string{"x-amz-copy-source", "/lake/wh/ns/t1/%2e%2e/t2/a"}, invalid},
		{"PUT", object, []string{"x-amz-copy-source", "/lake"}, invalid},
		{"PUT", object, []string{"x-amz-copy-source", "arn:aws:s3:eu-west-1:1:accesspoint/a/object/wh/ns/t1/a"}, invalid},
	} {
		_, err := newSigner().Sign(profile(), t1(full()), request(c.method, c.path, c.headers...))
		assert.Equal(t, c.code, fault.CodeOf(err), "%s %s %v: %v", c.method, c.path, c.headers, err)
	}
}

// TestHeaderNamesAreNames: what is signed is a text, in which a name could pass for more than one.
func TestHeaderNamesAreNames(t *testing.T) {
	for _, name := range []string{
		"x-amz-meta-a:b\nx-amz-copy-source", "x-amz-meta-a\r\nHost", "x-amz-meta-a;x-amz-acl", "x-amz-meta-a b", "x-amz-meta-a\x00", "x-amz-meta-é",
	} {
		_, err := newSigner().Sign(profile(), t1(full()), request("PUT", "/lake/wh/ns/t1/f", name, "1"))
		assert.True(t, fault.Is(err, fault.Invalid), "%q: %v", name, err)
	}
	_, err := newSigner().Sign(profile(), t1(full()), request("PUT", "/lake/wh/ns/t1/f", "X-Amz-Meta-a_b.c", "1"))
	assert.NoError(t, err)
}

func TestRequestsGoToTheStoreOfTheProfile(t *testing.T) {
	plain := models.StorageConfig{Type: models.S3Storage, Endpoint: "https://Store.example", PathStyleAccess: true}
	virtual := models.StorageConfig{Type: models.S3Storage, Endpoint: "https://store.example:9443"}
	address := models.StorageConfig{Type: models.S3Storage, Endpoint: "http://127.0.0.1:9000"}
	amazon := models.StorageConfig{Type: models.S3Storage, Region: "eu-west-1"}
	china := models.StorageConfig{Type: models.S3Storage, Region: "cn-north-1"}
	for _, c := range []struct {
		config models.StorageConfig
		uri    string
		ok     bool
	}{
		{plain, "https://store.example/lake/wh/ns/t1/f", true},
		{plain, "https://store.example:443/lake/wh/ns/t1/f", true},
		{plain, "HTTPS://STORE.EXAMPLE/lake/wh/ns/t1/f", true},
		{plain, "http://store.example/lake/wh/ns/t1/f", false},
		{plain, "https://store.example:80/lake/wh/ns/t1/f", false},
		{plain, "https://lake.store.example/wh/ns/t1/f", false}, // it would take wh for the bucket
		{plain, "https://evil.example/lake/wh/ns/t1/f", false},
		{plain, "https://user@store.example/lake/wh/ns/t1/f", false},
		{plain, "https://store.example.evil.example/lake/wh/ns/t1/f", false},
		{plain, "https://store.example./lake/wh/ns/t1/f", false},
		{plain, "ftp://store.example/lake/wh/ns/t1/f", false},
		{plain, "//store.example/lake/wh/ns/t1/f", false},
		{plain, "s3://lake/wh/ns/t1/f", false},
		{plain, "", false},
		{virtual, "https://store.example:9443/lake/wh/ns/t1/f", true},
		{virtual, "https://lake.store.example:9443/wh/ns/t1/f", true},
		{virtual, "https://lake.store.example/wh/ns/t1/f", false},
		{virtual, "https://.store.example:9443/wh/ns/t1/f", false},
		{virtual, "https://other.store.example:9443/wh/ns/t1/f", false},
		{address, "http://127.0.0.1:9000/lake/wh/ns/t1/f", true},
		{address, "http://lake.127.0.0.1:9000/wh/ns/t1/f", false},
		{amazon, "https://lake.s3.eu-west-1.amazonaws.com/wh/ns/t1/f", true},
		{amazon, "https://s3.eu-west-1.amazonaws.com/lake/wh/ns/t1/f", true},
		{amazon, "https://lake.s3.dualstack.eu-west-1.amazonaws.com/wh/ns/t1/f", true},
		{amazon, "https://lake.s3-fips.eu-west-1.amazonaws.com/wh/ns/t1/f", true},
		{amazon, "https://lake.s3-eu-west-1.amazonaws.com/wh/ns/t1/f", true},
		{amazon, "https://lake.s3.amazonaws.com/wh/ns/t1/f", true},
		{amazon, "https://lake.s3.us-east-1.amazonaws.com/wh/ns/t1/f", false},
		{amazon, "http://lake.s3.eu-west-1.amazonaws.com/wh/ns/t1/f", false},
		{amazon, "https://lake.s3.eu-west-1.amazonaws.com.evil.example/wh/ns/t1/f", false},
		{amazon, "https://sts.amazonaws.com/lake/wh/ns/t1/f", false},
		{china, "https://lake.s3.cn-north-1.amazonaws.com.cn/wh/ns/t1/f", true},
		{china, "https://lake.s3.cn-north-1.amazonaws.com/wh/ns/t1/f", false},
		{models.StorageConfig{Type: models.S3Storage, Endpoint: "https://store.example/prefix"}, "https://store.example/lake/wh/ns/t1/f", false},
	} {
		p := profile()
		p.Config = c.config
		_, err := newSigner().Sign(p, t1(full()), Request{Region: "us-east-1", Method: "GET", URI: c.uri})
		if c.ok {
			assert.NoError(t, err, c.uri)
		} else {
			assert.Error(t, err, c.uri)
		}
	}
}

func TestVirtualHostBucketRequests(t *testing.T) {
	p := profile()
	p.Config = models.StorageConfig{Type: models.S3Storage, Region: "eu-west-1"}
	const host = "https://lake.s3.eu-west-1.amazonaws.com"
	for uri, op := range map[string]operation{
		host: askBucket, host + "/": askBucket,
		host + "/?list-type=2&prefix=wh/ns/t1/": listObjects, host + "?list-type=2&prefix=wh/ns/t1/": listObjects,
	} {
		method := "GET"
		if op == askBucket {
			method = "HEAD"
		}
		c := understood(t, p, Request{Method: method, URI: uri})
		assert.Equal(t, op, c.op, uri)
		signed, err := newSigner().Sign(p, t1(reader()), Request{Method: method, URI: uri})
		require.NoError(t, err, uri)
		assert.Contains(t, signed.URI, host+"/")
	}
}

func TestRegionOfTheProfileGoesFirst(t *testing.T) {
	p := profile()
	signed, err := newSigner().Sign(p, t1(reader()), Request{Region: "ap-south-1", Method: "GET", URI: store + "/lake/wh/ns/t1/f"})
	require.NoError(t, err)
	assert.Contains(t, signed.Headers["Authorization"][0], "/eu-west-1/s3/aws4_request")
	p.Config.Region = ""
	signed, err = newSigner().Sign(p, t1(reader()), Request{Region: "ap-south-1", Method: "GET", URI: store + "/lake/wh/ns/t1/f"})
	require.NoError(t, err)
	assert.Contains(t, signed.Headers["Authorization"][0], "/ap-south-1/s3/aws4_request")
	_, err = newSigner().Sign(p, t1(reader()), Request{Region: "a/b", Method: "GET", URI: store + "/lake/wh/ns/t1/f"})
	assert.True(t, fault.Is(err, fault.Invalid), "%v", err)
}

func TestNothingToSignWith(t *testing.T) {
	for name, change := range map[string]func(*Profile){
		"no keys":  func(p *Profile) { p.Secrets = models.StorageSecrets{} },
		"no S3":    func(p *Profile) { p.Config.Type = models.FileStorage },
		"one half": func(p *Profile) { p.Secrets.SecretKey = "" },
	} {
		p := profile()
		change(&p)
		_, err := newSigner().Sign(p, t1(full()), request("GET", "/lake/wh/ns/t1/f"))
		assert.True(t, fault.Is(err, fault.Unsupported), "%s: %v", name, err)
	}
}
