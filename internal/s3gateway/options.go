package s3gateway

import (
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	defaultListen     = "127.0.0.1:0"
	defaultRegion     = "us-east-1"
	defaultMinSession = time.Minute
	maxSession        = 12 * time.Hour
	// minSecret is what a root secret must have at least, in bytes: session tokens are sealed under it.
	minSecret = 16
)

// Options says where and what to serve. Folder, RootKey and RootSecret are required.
type Options struct {
	// Listen is host:port; port 0 is any free one. 127.0.0.1:0 when empty.
	Listen string
	// Folder holds one folder for each bucket. Only those that EnsureBucket named are served.
	Folder string
	// RootKey and RootSecret may do everything, and AssumeRole. Whoever knows them can make any credentials.
	RootKey    string
	RootSecret string
	// Region is what clients are told and must sign for. us-east-1 when empty.
	Region string
	// MinSession is the shortest life of temporary credentials, 60 s when zero. The longest is 12 h.
	MinSession time.Duration
	// Logger gets each request at debug, without secrets. Nothing is logged when nil.
	Logger *slog.Logger
}

// complete fills in what is left out and refuses what cannot work.
func (o Options) complete() (Options, error) {
	if o.Listen == "" {
		o.Listen = defaultListen
	}
	if _, _, err := net.SplitHostPort(o.Listen); err != nil {
		return o, fault.Wrap(err, fault.Invalid, "The S3 endpoint cannot listen on %q. Use host:port, such as 127.0.0.1:9000.", o.Listen)
	}
	if o.Region == "" {
		o.Region = defaultRegion
	}
	if o.MinSession == 0 {
		o.MinSession = defaultMinSession
	}
	if o.MinSession < time.Second || o.MinSession > maxSession {
		return o, fault.New(fault.Invalid, "Temporary credentials of %s are not possible. Use 1 s to 12 h.", o.MinSession)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.RootKey == "" || isTemporary(o.RootKey) || len(o.RootSecret) < minSecret {
		return o, fault.New(fault.Invalid, "The S3 endpoint needs a root key that does not begin with %s and a secret of %d bytes or more.", temporaryPrefix, minSecret)
	}
	if o.Folder == "" {
		return o, fault.New(fault.Invalid, "The S3 endpoint needs the folder that holds its buckets.")
	}
	abs, err := filepath.Abs(o.Folder)
	if err == nil {
		err = os.MkdirAll(abs, 0o777) //nolint:gosec // the umask decides, as for internal/objects
	}
	if err != nil {
		return o, fault.Wrap(err, fault.Unavailable, "The folder %s of the S3 endpoint cannot be used. Look at its permissions.", o.Folder)
	}
	o.Folder = abs
	return o, nil
}
