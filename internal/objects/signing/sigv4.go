package signing

import (
	"context"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/sluice-data/sluice/internal/fault"
)

// sign makes the signature. The signer is made anew each time: it remembers derived keys by access key and region alone,
// and two stores may know different secrets under one access key.
func (s *Signer) sign(p Profile, c call) (Signed, error) {
	query := c.query.encoded()
	path := c.to.path
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return Signed{}, fault.Wrap(err, fault.Invalid, "The request's path is not valid.")
	}
	req := &http.Request{
		Method: c.method,
		Host:   c.to.host,
		URL:    &url.URL{Scheme: c.to.scheme, Host: c.to.host, Path: decoded, RawPath: path, RawQuery: query},
		Header: make(http.Header, len(c.headers)+4),
	}
	for _, h := range c.headers {
		req.Header.Set(h.name, h.value)
	}
	req.Header.Set(contentHeader, c.sha256)
	keys := aws.Credentials{AccessKeyID: p.Secrets.AccessKey, SecretAccessKey: p.Secrets.SecretKey, SessionToken: p.SessionToken}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(context.Background(), keys, req, c.sha256, "s3", c.region, s.now()); err != nil {
		return Signed{}, fault.Wrap(err, fault.Internal, "The request could not be signed.")
	}
	out := Signed{URI: c.to.scheme + "://" + c.to.host + path, Headers: req.Header, Cacheable: c.method == http.MethodGet || c.method == http.MethodHead}
	if query != "" {
		out.URI += "?" + query
	}
	// Under the client's own spelling, so that no header comes twice where names are told apart by case.
	for _, h := range c.headers {
		if canonical := http.CanonicalHeaderKey(h.name); canonical != h.given {
			out.Headers[h.given] = out.Headers[canonical]
			delete(out.Headers, canonical)
		}
	}
	return out, nil
}
