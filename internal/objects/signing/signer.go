package signing

import (
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Profile is the object store that requests are signed for.
type Profile struct {
	// Config says where the store is for engines. PathStyleAccess must be set for stores that know no virtual hosts: they
	// would take the first segment of such a request's path for the bucket.
	Config  models.StorageConfig
	Secrets models.StorageSecrets
	// SessionToken goes with Secrets that are themselves temporary.
	SessionToken string
	// Unconditional: the store knows no conditional writes, so that none are asked for. Then nothing keeps a writer from
	// replacing objects.
	Unconditional bool
}

// Request is a request to the store as an engine means to send it.
type Request struct {
	Region  string // what the engine would sign for; the profile's region goes first
	Method  string
	URI     string
	Headers map[string][]string
	Body    string // of DeleteObjects; other bodies are not looked at
}

// Signed is a request as it must be sent: to this URI, with these headers beside the client's own.
type Signed struct {
	URI     string
	Headers map[string][]string // the signed ones and the signature; the client keeps all others that it has
	// Cacheable: the request reads, and a client may use the signature for the same method, region and URI again
	// (Cache-Control: private). Whatever else must be asked for each time (no-cache, no-store).
	Cacheable bool
}

// Signer signs requests. It keeps nothing and may be used concurrently.
type Signer struct {
	now func() time.Time
}

// New makes a signer by the clock: stores refuse signatures that are 15 minutes off.
func New(now func() time.Time) *Signer { return &Signer{now: now} }

// Sign signs the request if all that it touches is within the access. Errors are fault.Forbidden for what may not be
// done, fault.Invalid for what is malformed, and fault.Unsupported where the profile has nothing to sign with.
func (s *Signer) Sign(p Profile, access models.StorageAccess, r Request) (Signed, error) {
	if p.Config.Type != models.S3Storage || p.Secrets.AccessKey == "" || p.Secrets.SecretKey == "" {
		return Signed{}, fault.New(fault.Unsupported, "There are no keys to sign requests for table %s with. Let the engine reach the store with keys of its own.", access.Table)
	}
	c, err := read(p, r)
	if err != nil {
		return Signed{}, err
	}
	if c, err = judge(p, access, c); err != nil {
		return Signed{}, err
	}
	return s.sign(p, c)
}

// Locate gives the location that the request is about, such as s3://bucket/key: of its object, the prefix that it lists,
// or the first of the objects that it deletes; the bucket's where it names no more. Errors are those of Sign. It may be asked
// of one request for many stores: what it does not need of a long body it leaves to Sign.
func Locate(p Profile, r Request) (string, error) {
	c, err := begin(p, r)
	if err != nil {
		return "", err
	}
	at := c.at
	switch c.op {
	case deleteObjects:
		at, err = firstDeleted(c.to.bucket, r.Body)
	case listObjects:
		at, err = c.listed()
	}
	if err != nil {
		return "", err
	}
	return at.String(), nil
}
