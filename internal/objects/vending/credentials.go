package vending

import (
	"log/slog"
	"maps"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// Credentials are temporary keys.
type Credentials struct {
	AccessKey    string
	SecretKey    string
	SessionToken string
	ExpiresAt    time.Time
}

// LogValue keeps the keys out of logs.
func (c Credentials) LogValue() slog.Value {
	return slog.GroupValue(slog.String("accessKey", c.AccessKey), slog.Time("expiresAt", c.ExpiresAt))
}

// String keeps the keys out of printed values.
func (c Credentials) String() string { return c.LogValue().String() }

// GoString keeps the keys out of %#v.
func (c Credentials) GoString() string { return c.String() }

// ClientConfig gives the properties by which an engine uses the keys, those of the store included. The refresh endpoint is
// where it gets new ones, a path or a URI; "" where there is none.
func (c Credentials) ClientConfig(at models.StorageConfig, refresh string) map[string]string {
	config := map[string]string{
		"s3.access-key-id":               c.AccessKey,
		"s3.secret-access-key":           c.SecretKey,
		"s3.session-token":               c.SessionToken,
		"s3.session-token-expires-at-ms": strconv.FormatInt(c.ExpiresAt.UnixMilli(), 10),
		"s3.remote-signing-enabled":      "false",
	}
	if refresh != "" {
		config["client.refresh-credentials-endpoint"] = refresh
	}
	maps.Copy(config, objects.S3ClientConfig(at))
	return config
}
