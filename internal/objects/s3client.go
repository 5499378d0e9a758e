package objects

import (
	"net"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	amazonEndpoint = "https://s3.amazonaws.com" // minio-go finds the region's own from it
	defaultRegion  = "us-east-1"

	s3ConflictRounds = 6 // of a create that another one's outcome is awaited for
)

// newS3Client checks the configuration and makes the client. It asks the network nothing.
func newS3Client(c S3Config) (*minio.Client, error) {
	endpoint, err := s3Endpoint(c.Endpoint)
	if err != nil {
		return nil, err
	}
	secure := endpoint.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The connection to the object store cannot be set up: check the TLS certificates of this machine.")
	}
	transport.DialContext = (&net.Dialer{Timeout: DialTimeout, KeepAlive: 30 * time.Second}).DialContext
	transport.ResponseHeaderTimeout = HeaderTimeout
	transport.MaxIdleConnsPerHost = IdlePerHost
	creds, err := s3Credentials(c)
	if err != nil {
		return nil, err
	}
	region := c.Region
	if region == "" {
		region = defaultRegion // given, so that minio-go does not look it up
	}
	lookup := minio.BucketLookupAuto
	if c.PathStyle {
		lookup = minio.BucketLookupPath
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:        creds,
		Secure:       secure,
		Transport:    CountingTransport{Next: transport},
		Region:       region,
		BucketLookup: lookup,
		MaxRetries:   Attempts,
		// TrailingHeaders stays off: not every compatible store reads them.
	})
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The object store's endpoint %q is not valid. Use one such as https://minio.example:9000.", endpoint.Host)
	}
	return client, nil
}

// s3Endpoint reads the endpoint: a URL, or a host that is meant with https.
func s3Endpoint(endpoint string) (*url.URL, error) {
	if endpoint == "" {
		endpoint = amazonEndpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		u, err = url.Parse("https://" + endpoint)
	}
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || (u.Path != "" && u.Path != "/") || u.User != nil || u.RawQuery != "" {
		return nil, fault.New(fault.Invalid, "The object store's endpoint is not valid. Use a URL of scheme and host alone, such as https://minio.example:9000.")
	}
	return u, nil
}

// s3Credentials gives the configured keys, else those of the surroundings: environment, shared credentials file, the
// role of the instance, container or web identity; or those of the role that is taken on with them.
func s3Credentials(c S3Config) (*credentials.Credentials, error) {
	if (c.AccessKey == "") != (c.SecretKey == "") {
		return nil, fault.New(fault.Invalid, "The object store's access key and secret key go together: give both or neither.")
	}
	keys := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{},
		&credentials.IAM{},
	})
	if c.AccessKey != "" {
		keys = credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken)
	}
	if c.Role != nil {
		keys = credentials.New(&roleKeys{base: keys, config: c})
	}
	return keys, nil
}
