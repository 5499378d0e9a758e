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
	// Clouds opens the stores of other roots, by the scheme of their normal form ("abfss", "gs"): azure.Opener and
	// gcs.Opener give such functions. Without one for its scheme a root is refused. They are passed in, so that only
	// binaries which want a cloud link its SDK.
	Clouds map[string]OpenFunc
}

// OpenFunc makes the store of a root. It is asked once for each bucket or container.
type OpenFunc func(ctx context.Context, root Location) (Store, error)

// S3Config says how S3-compatible roots are reached.
type S3Config struct {
	Endpoint  string // such as https://minio.example:9000; "" for Amazon S3 in the region
	Region    string // "" for us-east-1
	PathStyle bool   // buckets in the path instead of the host name; most stores other than Amazon's need it

	// The keys; all empty to take them from the environment, the shared credentials file or the instance's role.
	AccessKey    string
	SecretKey    string
	SessionToken string

	Role *S3Role // that is taken on with the keys; nil for none
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
	o := opener{config: c, stores: map[string]Store{}}
	var mounts []Mount
	for _, root := range c.Roots {
		loc, err := Parse(root)
		if err != nil {
			return nil, closing(mounts, err)
		}
		store, err := o.open(ctx, loc)
		if err != nil {
			return nil, closing(mounts, err)
		}
		mounts = append(mounts, Mount{Root: loc, Store: store})
	}
	return NewRouter(mounts...), nil
}

// opener makes the stores of roots; those in one place share one.
type opener struct {
	config Config
	stores map[string]Store
}

func (o *opener) open(ctx context.Context, root Location) (Store, error) {
	if root.IsFile() {
		store, err := NewFileStore(ctx, root)
		if err != nil {
			return nil, err // not a Store that holds no *FileStore
		}
		return store, nil
	}
	place := root.Scheme() + "://" + root.Bucket()
	if root.IsS3() {
		place = schemeS3 // one endpoint has all buckets
	}
	if store, found := o.stores[place]; found {
		return store, nil
	}
	store, err := o.openCloud(ctx, root)
	if err == nil {
		o.stores[place] = store
	}
	return store, err
}

func (o *opener) openCloud(ctx context.Context, root Location) (Store, error) {
	if root.IsS3() {
		store, err := NewS3Store(o.config.S3)
		if err != nil {
			return nil, err // not a Store that holds no *S3Store
		}
		return store, nil
	}
	open := o.config.Clouds[root.Scheme()]
	if open == nil {
		return nil, fault.New(fault.Invalid, "Storage root %s is of a kind that this program was not set up for. Use file:// or s3://.", root)
	}
	return open(ctx, root)
}

// closing gives back what a failed Open had opened.
func closing(mounts []Mount, err error) error {
	_ = NewRouter(mounts...).Close() // the first error is the one to tell
	return err
}
