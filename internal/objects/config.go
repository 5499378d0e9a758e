package objects

import (
	"context"
	"log/slog"

	"github.com/sluice-data/sluice/internal/fault"
)

// Config says what storage Sluice may use.
type Config struct {
	// Roots are the allowed prefixes, such as file:///data/warehouse or s3://bucket/warehouse.
	Roots []string
	S3    S3Config
}

// S3Config says how S3-compatible roots are reached.
type S3Config struct {
	Endpoint  string // such as https://minio.example:9000; "" for Amazon S3 in the region
	Region    string // "" for us-east-1
	PathStyle bool   // buckets in the path instead of the host name; most stores other than Amazon's need it

	// The keys; all empty to take them from the environment, the shared credentials file or the instance's role.
	AccessKey    string
	SecretKey    string
	SessionToken string
}

// LogValue keeps the keys out of logs.
func (c S3Config) LogValue() slog.Value {
	return slog.GroupValue(slog.String("endpoint", c.Endpoint), slog.String("region", c.Region), slog.Bool("pathStyle", c.PathStyle))
}

// String keeps the keys out of printed configurations.
func (c S3Config) String() string { return c.LogValue().String() }

// GoString keeps the keys out of %#v.
func (c S3Config) GoString() string { return c.String() }

// Open makes the store of the configured roots. Local roots are made where they are missing and must be writable;
// S3 roots are not asked anything yet, so that a process can start before its store (Check does ask). Errors are
// fault.Invalid for what the configuration has wrong, fault.Unavailable for a root that cannot be used.
func Open(ctx context.Context, c Config) (*Router, error) {
	if len(c.Roots) == 0 {
		return nil, fault.New(fault.Invalid, "No storage root is configured. Name at least one, such as file:///data/warehouse or s3://bucket/warehouse.")
	}
	var mounts []Mount
	var s3 *S3Store
	for _, root := range c.Roots {
		loc, err := Parse(root)
		if err != nil {
			return nil, closing(mounts, err)
		}
		if loc.IsS3() {
			if s3 == nil {
				if s3, err = NewS3Store(c.S3); err != nil {
					return nil, closing(mounts, err)
				}
			}
			mounts = append(mounts, Mount{Root: loc, Store: s3})
			continue
		}
		local, err := NewFileStore(ctx, loc)
		if err != nil {
			return nil, closing(mounts, err)
		}
		mounts = append(mounts, Mount{Root: loc, Store: local})
	}
	return NewRouter(mounts...), nil
}

// closing gives back what a failed Open had opened.
func closing(mounts []Mount, err error) error {
	_ = NewRouter(mounts...).Close() // the first error is the one to tell
	return err
}
