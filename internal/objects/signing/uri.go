package signing

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	maxURI = 8 << 10
	// hexDigits are those of percent-encodings, which SigV4 wants in upper case.
	hexDigits = "0123456789ABCDEF"
)

// target is where a request goes: the parts of its URI before the query, decoded once.
type target struct {
	scheme string
	host   string // with its port, unless that is the scheme's own; lower-case
	path   string // encoded as SigV4 encodes it
	bucket string
	key    string // "" for the bucket; a slash at its end is kept
}

// readURI reads a URI of the profile's store.
func readURI(p Profile, region, uri string) (target, query, error) {
	if len(uri) > maxURI {
		return target{}, nil, fault.New(fault.Invalid, "The request's URI is longer than %d bytes.", maxURI)
	}
	base, rawQuery, _ := strings.Cut(uri, "?")
	scheme, rest, ok := strings.Cut(base, "://")
	scheme = strings.ToLower(scheme)
	authority, rawPath, _ := strings.Cut(rest, "/")
	if !ok || authority == "" || strings.ContainsAny(uri, "#\\ \x00\r\n\t") {
		return target{}, nil, fault.New(fault.Invalid, "The request's URI is not valid. Send the whole one, such as https://store.example/bucket/key.")
	}
	t := target{scheme: scheme, host: plainHost(scheme, authority)}
	path, err := decodedPath(rawPath)
	if err != nil {
		return target{}, nil, err
	}
	if !t.split(p.Config, region, path) {
		return target{}, nil, fault.New(fault.Forbidden, "Requests to %s are not signed: the tables of this catalog do not lie there. Use the s3.endpoint and s3.path-style-access that loading the table gave.", shownHost(scheme, authority))
	}
	q, err := readQuery(rawQuery)
	return t, q, err
}

// shownHost keeps what a message quotes short.
func shownHost(scheme, authority string) string {
	s := scheme + "://" + authority
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}

// decodedPath decodes a path once. Slashes must not be encoded: stores differ in what they make of that. A plus is a
// plus: where a store takes it for a space, the signature does not fit what it then reads.
func decodedPath(raw string) (string, error) {
	if strings.Contains(strings.ToLower(raw), "%2f") {
		return "", fault.New(fault.Invalid, "The request's path has an encoded slash. Encode the parts between slashes alone.")
	}
	path, err := url.PathUnescape(raw)
	if err != nil {
		return "", fault.New(fault.Invalid, "The request's path is not validly percent-encoded.")
	}
	return path, nil
}

// plainHost gives the host as clients send it in the Host header.
func plainHost(scheme, authority string) string {
	host := strings.ToLower(authority)
	switch scheme {
	case "http":
		return strings.TrimSuffix(host, ":80")
	case "https":
		return strings.TrimSuffix(host, ":443")
	}
	return host
}

// split finds the bucket, by the host or the path; false when the host is not the store's.
func (t *target) split(c models.StorageConfig, region, path string) bool {
	for _, at := range endpoints(c, region) {
		if t.scheme != at.scheme {
			continue
		}
		if t.host == at.host {
			var inside bool
			t.bucket, t.key, inside = strings.Cut(path, "/")
			t.path = "/" + encode(t.bucket, false)
			if inside {
				t.path += "/" + encode(t.key, true)
			}
			return true
		}
		bucket, found := strings.CutSuffix(t.host, "."+at.host)
		if found && at.virtual && bucket != "" {
			t.bucket, t.key = bucket, path
			t.path = "/" + encode(path, true)
			return true
		}
	}
	return false
}

// endpoint is a place where the store answers: to the host itself with the bucket in the path, and, if virtual, to
// bucket.host.
type endpoint struct {
	scheme, host string
	virtual      bool
}

// endpoints gives the places where the store of the configuration answers.
func endpoints(c models.StorageConfig, region string) []endpoint {
	if c.Endpoint == "" {
		return amazon(region)
	}
	address := c.Endpoint
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return nil
	}
	scheme := strings.ToLower(u.Scheme)
	virtual := !c.PathStyleAccess && net.ParseIP(u.Hostname()) == nil
	return []endpoint{{scheme: scheme, host: plainHost(scheme, u.Host), virtual: virtual}}
}

// amazon gives the addresses of Amazon S3 in a region.
func amazon(region string) []endpoint {
	domain := ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = ".amazonaws.com.cn"
	}
	at := []endpoint{{"https", "s3" + domain, true}}
	for _, service := range []string{"s3.", "s3.dualstack.", "s3-fips.", "s3-fips.dualstack.", "s3-"} {
		at = append(at, endpoint{"https", service + region + domain, true})
	}
	// The longest first: each is the end of none of the others, but a reader need not know that.
	slices.SortFunc(at, func(a, b endpoint) int { return len(b.host) - len(a.host) })
	return at
}

// encode percent-encodes all but the unreserved characters, once, as SigV4 wants it; slashes too unless they are kept.
func encode(s string, slashes bool) string {
	plain := func(c byte) bool { return unreserved(c) || slashes && c == '/' }
	if !slices.ContainsFunc([]byte(s), func(c byte) bool { return !plain(c) }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	for i := range len(s) {
		c := s[i]
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~'
}
