package objects

import (
	"strconv"

	"github.com/sluice-data/sluice/models"
)

// S3ClientConfig gives what an engine must know to reach an S3 store, beside keys, in the properties of Iceberg's clients.
// Engines want a region even of stores that have none.
func S3ClientConfig(c models.StorageConfig) map[string]string {
	config := map[string]string{}
	region := c.Region
	if c.Endpoint != "" {
		config["s3.endpoint"] = c.Endpoint
		config["s3.path-style-access"] = strconv.FormatBool(c.PathStyleAccess)
		if region == "" {
			region = defaultRegion
		}
	}
	if region != "" {
		config["client.region"] = region
		config["s3.region"] = region
	}
	return config
}
