package vending

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Rights as policies give them.
func reader() models.StorageRights { return models.StorageRights{ReadData: true, ReadMetadata: true} }
func appender() models.StorageRights {
	return models.StorageRights{ReadData: true, ReadMetadata: true, Write: true}
}
func writeOnly() models.StorageRights { return models.StorageRights{ReadMetadata: true, Write: true} }
func full() models.StorageRights {
	return models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: true, Delete: true}
}

// t1 is a table whose metadata has an area of its own.
func t1(r models.StorageRights) models.StorageAccess {
	return models.StorageAccess{Table: "ns.t1", Rights: r, Areas: []models.StorageArea{
		{Prefix: "s3://lake/wh/ns/t1"}, {Prefix: "s3://lake/wh/ns/t1/metadata", Metadata: true},
	}}
}

func TestSessionPolicies(t *testing.T) {
	const list = `{"Effect":"Allow","Action":"s3:ListBucket","Resource":"arn:aws:s3:::lake","Condition":{"StringLike":{"s3:prefix":"wh/ns/t1/*"}}}`
	const where = `{"Effect":"Allow","Action":"s3:GetBucketLocation","Resource":"arn:aws:s3:::lake"}`
	const put = `"s3:PutObject","s3:AbortMultipartUpload","s3:ListMultipartUploadParts"`
	for name, c := range map[string]struct {
		rights models.StorageRights
		want   string
	}{
		"reader":   {reader(), `{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::lake/wh/ns/t1/*"},` + list},
		"appender": {appender(), `{"Effect":"Allow","Action":["s3:GetObject",` + put + `],"Resource":"arn:aws:s3:::lake/wh/ns/t1/*"},` + list},
		"full":     {full(), `{"Effect":"Allow","Action":["s3:GetObject",` + put + `,"s3:DeleteObject"],"Resource":"arn:aws:s3:::lake/wh/ns/t1/*"},` + list},
		"write-only": {writeOnly(), `{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::lake/wh/ns/t1/metadata/*"},` +
			`{"Effect":"Allow","Action":[` + put + `],"Resource":"arn:aws:s3:::lake/wh/ns/t1/*"},` +
			strings.Replace(list, "t1/*", "t1/metadata/*", 1)},
	} {
		got, err := SessionPolicy(models.StorageConfig{}, t1(c.rights))
		require.NoError(t, err, name)
		assert.Equal(t, `{"Version":"2012-10-17","Statement":[`+c.want+","+where+"]}", got, name)
		assert.LessOrEqual(t, len(got), 600, name)
	}
}

func TestAreasWithinAreas(t *testing.T) {
	policy := func(r models.StorageRights, areas ...models.StorageArea) string {
		text, err := SessionPolicy(models.StorageConfig{}, models.StorageAccess{Table: "t", Rights: r, Areas: areas})
		require.NoError(t, err)
		return text
	}
	// Data within the metadata that a writer may read: denied, and no listing that would name it.
	text := policy(writeOnly(), models.StorageArea{Prefix: "s3://lake/t", Metadata: true}, models.StorageArea{Prefix: "s3://lake/t/data"})
	assert.Contains(t, text, `"Action":["s3:GetObject","s3:PutObject","s3:AbortMultipartUpload","s3:ListMultipartUploadParts"],"Resource":"arn:aws:s3:::lake/t/*"}`)
	assert.Contains(t, text, `{"Effect":"Deny","Action":"s3:GetObject","Resource":"arn:aws:s3:::lake/t/data/*"}`)
	assert.NotContains(t, text, "ListBucket")

	// The same place twice is data; what is no area is left out.
	text = policy(writeOnly(), models.StorageArea{Prefix: "s3://lake/t", Metadata: true}, models.StorageArea{Prefix: "s3a://lake/t/"}, models.StorageArea{Prefix: "file:///t"})
	assert.NotContains(t, text, "GetObject")

	// Files elsewhere, in another bucket.
	text = policy(reader(), models.StorageArea{Prefix: "s3://lake/t"}, models.StorageArea{Prefix: "s3://hot/d"})
	assert.Contains(t, text, `"Resource":["arn:aws:s3:::hot/d/*","arn:aws:s3:::lake/t/*"]`)
	assert.Contains(t, text, `"Resource":"arn:aws:s3:::hot","Condition":{"StringLike":{"s3:prefix":"d/*"}}`)
	assert.Contains(t, text, `"Resource":"arn:aws:s3:::lake","Condition":{"StringLike":{"s3:prefix":"t/*"}}`)

	// What a denial cannot take back is refused.
	_, err := SessionPolicy(models.StorageConfig{}, models.StorageAccess{Table: "t", Rights: writeOnly(), Areas: []models.StorageArea{
		{Prefix: "s3://lake/t", Metadata: true}, {Prefix: "s3://lake/t/data"}, {Prefix: "s3://lake/t/data/metadata", Metadata: true},
	}})
	assert.True(t, fault.Is(err, fault.Unprocessable), "%v", err)
}

func TestPatternsMatchTheKeyAlone(t *testing.T) {
	text, err := SessionPolicy(models.StorageConfig{}, models.StorageAccess{Table: "t", Rights: reader(), Areas: []models.StorageArea{{Prefix: "s3://lake/a*b${aws:username}<&>"}}})
	require.NoError(t, err)
	assert.Contains(t, text, `"arn:aws:s3:::lake/a${*}b${$}{aws:username}<&>/*"`)
	assert.True(t, json.Valid([]byte(text)))
}

func TestPartitionsAndKeysOfTheKeyService(t *testing.T) {
	config := models.StorageConfig{RoleARN: "arn:aws-cn:iam::1:role/r", CurrentKMSKey: "arn:aws-cn:kms:cn-north-1:1:key/k", AllowedKMSKeys: []string{"arn:aws-cn:kms:cn-north-1:1:key/k", "an alias"}}
	text, err := SessionPolicy(config, t1(reader()))
	require.NoError(t, err)
	assert.Contains(t, text, `"arn:aws-cn:s3:::lake/wh/ns/t1/*"`)
	assert.Contains(t, text, `"Action":["kms:Decrypt","kms:GenerateDataKey","kms:DescribeKey"],"Resource":"arn:aws-cn:kms:cn-north-1:1:key/k"}`)
	config.KMSUnavailable = true
	text, err = SessionPolicy(config, t1(reader()))
	require.NoError(t, err)
	assert.NotContains(t, text, "kms:")
}

func TestPoliciesFitOrAreRefused(t *testing.T) {
	long := models.StorageAccess{Table: "ns.t1", Rights: full(), Areas: []models.StorageArea{{Prefix: "s3://lake/" + strings.Repeat("n", 700)}}}
	text, err := SessionPolicy(models.StorageConfig{}, long)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(text), maxPolicy)

	long.Areas = append(long.Areas, models.StorageArea{Prefix: "s3://lake/" + strings.Repeat("m", 300)})
	_, err = SessionPolicy(models.StorageConfig{}, long)
	assert.True(t, fault.Is(err, fault.Unprocessable))
	assert.Contains(t, fault.PublicMessage(err), "ns.t1")
	assert.Contains(t, fault.PublicMessage(err), "remote signing")

	_, err = SessionPolicy(models.StorageConfig{}, t1(models.StorageRights{}))
	assert.True(t, fault.Is(err, fault.Forbidden))
	_, err = SessionPolicy(models.StorageConfig{}, models.StorageAccess{Table: "t", Rights: full(), Areas: []models.StorageArea{{Prefix: "file:///t"}}})
	assert.True(t, fault.Is(err, fault.Unprocessable))
}

// TestWildcardsInLocations: a store that does not know Amazon's escapes would take them for other keys, a neighbour's or none.
func TestWildcardsInLocations(t *testing.T) {
	for _, key := range []string{"a*", "a$b", "${aws:username}"} {
		access := models.StorageAccess{Table: "t", Rights: reader(), Areas: []models.StorageArea{{Prefix: "s3://lake/" + key}}}
		_, err := SessionPolicy(models.StorageConfig{Endpoint: "http://store.example"}, access)
		assert.True(t, fault.Is(err, fault.Unprocessable), "%s: %v", key, err)
		for _, endpoint := range []string{"", "https://s3.eu-west-1.amazonaws.com"} {
			_, err = SessionPolicy(models.StorageConfig{Endpoint: endpoint}, access)
			assert.NoError(t, err, key)
		}
	}
}
