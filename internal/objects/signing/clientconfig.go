package signing

import (
	"maps"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// ClientConfig gives the properties by which an engine has its requests signed: at the endpoint, a path without query,
// below the URI of the catalog. Iceberg's Java clients have two spellings of these, PyIceberg has a third and signs with
// its fsspec files alone. Chunks are not signed, so none may be sent.
func ClientConfig(c models.StorageConfig, uri, endpoint string) map[string]string {
	config := map[string]string{
		"s3.remote-signing-enabled":   "true",
		"s3.chunked-encoding-enabled": "false",
		"signer.uri":                  uri,
		"signer.endpoint":             endpoint,
		"s3.signer":                   "S3V4RestSigner",
		"s3.signer.uri":               uri,
		"s3.signer.endpoint":          endpoint,
		"py-io-impl":                  "pyiceberg.io.fsspec.FsspecFileIO",
	}
	maps.Copy(config, objects.S3ClientConfig(c))
	return config
}
