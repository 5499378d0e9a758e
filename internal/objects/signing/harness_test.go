package signing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

const (
	store = "http://store.example:9000"
	table = "wh/ns/t1" // the key of the table's location, in bucket lake
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

// t1 is the table of these tests, its metadata in an area of its own.
func t1(r models.StorageRights) models.StorageAccess {
	return models.StorageAccess{Table: "ns.t1", Rights: r, Areas: []models.StorageArea{
		{Prefix: "s3://lake/" + table}, {Prefix: "s3://lake/" + table + "/metadata", Metadata: true},
	}}
}

func profile() Profile {
	return Profile{
		Config:  models.StorageConfig{Type: models.S3Storage, Endpoint: store, Region: "eu-west-1", PathStyleAccess: true},
		Secrets: models.StorageSecrets{AccessKey: "AK", SecretKey: "secret"},
	}
}

func newSigner() *Signer {
	return New(func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) })
}

// request is one to the store of these tests, by its path and query.
func request(method, pathAndQuery string, headers ...string) Request {
	r := Request{Region: "eu-west-1", Method: method, URI: store + pathAndQuery, Headers: map[string][]string{}}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Headers[headers[i]] = append(r.Headers[headers[i]], headers[i+1])
	}
	return r
}

// understood reads a request that must be one of the known.
func understood(t *testing.T, p Profile, r Request) call {
	t.Helper()
	c, err := read(p, r)
	require.NoError(t, err)
	return c
}
