package signing

import (
	"net/url"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

const (
	maxHeaders     = 64
	maxHeaderBytes = 16 << 10

	// nameCharacters are those of the names of headers that are signed. A name with others, such as a colon or a line's end,
	// could make what is signed fit another request.
	nameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-_."

	copySourceHeader = "x-amz-copy-source"
	contentHeader    = "x-amz-content-sha256"
	ifMatchHeader    = "if-match"
	ifAbsentHeader   = "if-none-match"
	kmsKeyHeader     = "x-amz-server-side-encryption-aws-kms-key-id"
)

// header is one of a request's, with its one value.
type header struct {
	name  string // lower-case
	given string // the name as the client spells it
	value string
}

// headers are those of a request that are signed.
type headers []header

// readHeaders keeps the headers that are signed, and refuses those that would make an object public, lock or tag it, or
// do what nobody knows. Host must be the one of the URI: it is signed as that.
func readHeaders(in map[string][]string, host string) (headers, error) {
	if len(in) > maxHeaders {
		return nil, fault.New(fault.Invalid, "The request has more than %d headers.", maxHeaders)
	}
	kept := make(headers, 0, len(in)+4)
	size := 0
	for given, values := range in {
		name := strings.ToLower(given)
		if size += len(given); len(values) > 0 {
			size += len(values[0])
		}
		if name == "host" && (len(values) != 1 || strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(values[0]), ":443"), ":80") != withoutPort(host)) {
			return nil, fault.New(fault.Invalid, "The request's Host header is not the host of its URI.")
		}
		if !signed(name) {
			continue
		}
		if strings.Trim(name, nameCharacters) != "" {
			return nil, fault.New(fault.Invalid, "The name of the request's header %q is not valid.", shownName(name))
		}
		if len(values) != 1 || strings.ContainsAny(values[0], "\r\n\x00") || kept.has(name) {
			return nil, fault.New(fault.Invalid, "The request's header %s must come once, with one value on one line.", shownName(name))
		}
		if strings.HasPrefix(name, "x-amz-") && !known(name) {
			return nil, fault.New(fault.Forbidden, "Requests with the header %s are not signed. Take the setting that sends it (such as an ACL or tags on objects) out of the engine's configuration.", shownName(name))
		}
		kept = append(kept, header{name: name, given: given, value: values[0]})
	}
	if size > maxHeaderBytes {
		return nil, fault.New(fault.Invalid, "The request's headers are longer than %d bytes.", maxHeaderBytes)
	}
	return kept, nil
}

// withoutPort takes the port off that plain hosts do not have, so that both spellings compare.
func withoutPort(host string) string {
	return strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
}

func shownName(name string) string {
	if len(name) > 60 {
		name = name[:60] + "…"
	}
	return strings.ToValidUTF8(name, "")
}

// signed tells whether a header is a part of the signature. The client's own date, token and signature never are.
func signed(name string) bool {
	switch name {
	case "content-type", "content-md5", ifMatchHeader, ifAbsentHeader:
		return true
	case "x-amz-date", "x-amz-security-token":
		return false
	}
	return strings.HasPrefix(name, "x-amz-")
}

// known tells whether an x-amz-* header is one whose meaning fits what a table's rights are.
func known(name string) bool {
	switch name {
	case contentHeader, copySourceHeader, "x-amz-copy-source-range",
		"x-amz-copy-source-if-match", "x-amz-copy-source-if-none-match", "x-amz-copy-source-if-modified-since", "x-amz-copy-source-if-unmodified-since",
		"x-amz-copy-source-server-side-encryption-customer-algorithm", "x-amz-copy-source-server-side-encryption-customer-key",
		"x-amz-copy-source-server-side-encryption-customer-key-md5", "x-amz-metadata-directive",
		"x-amz-checksum-mode", "x-amz-checksum-algorithm", "x-amz-checksum-type", "x-amz-checksum-crc32", "x-amz-checksum-crc32c",
		"x-amz-checksum-crc64nvme", "x-amz-checksum-sha1", "x-amz-checksum-sha256", "x-amz-sdk-checksum-algorithm",
		"x-amz-trailer", "x-amz-decoded-content-length", "x-amz-te", "x-amz-mp-object-size",
		"x-amz-storage-class", "x-amz-server-side-encryption", kmsKeyHeader, "x-amz-server-side-encryption-context",
		"x-amz-server-side-encryption-bucket-key-enabled", "x-amz-server-side-encryption-customer-algorithm",
		"x-amz-server-side-encryption-customer-key", "x-amz-server-side-encryption-customer-key-md5",
		"x-amz-request-payer", "x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner", "x-amz-user-agent":
		return true
	}
	return strings.HasPrefix(name, "x-amz-meta-")
}

// value gives a header, "" where there is none.
func (h headers) value(name string) string {
	for _, one := range h {
		if one.name == name {
			return one.value
		}
	}
	return ""
}

func (h headers) has(name string) bool {
	return slices.ContainsFunc(h, func(one header) bool { return one.name == name })
}

// copySource reads /bucket/key, percent-encoded. A plus is refused, as stores differ in whether it is a space, and so are
// versions and access points.
func copySource(value string) (objects.Location, error) {
	path := strings.TrimPrefix(value, "/")
	decoded, err := url.PathUnescape(path)
	if err != nil || strings.ContainsAny(path, "+?") || strings.Contains(strings.ToLower(path), "%2f") {
		return objects.Location{}, fault.New(fault.Invalid, "The request's header %s is not valid. Send /bucket/key, percent-encoded but for its slashes, without a version.", copySourceHeader)
	}
	bucket, key, _ := strings.Cut(decoded, "/")
	if key == "" {
		return objects.Location{}, fault.New(fault.Invalid, "The request's header %s names no object.", copySourceHeader)
	}
	return objectAt(bucket, key)
}

// allowedKey refuses keys of the key service that the profile does not list, where it lists any.
func allowedKey(c models.StorageConfig, h headers) error {
	key := h.value(kmsKeyHeader)
	if key == "" || len(c.AllowedKMSKeys) == 0 || key == c.CurrentKMSKey || slices.Contains(c.AllowedKMSKeys, key) {
		return nil
	}
	return fault.New(fault.Forbidden, "The encryption key of the request is not one that this catalog's storage allows. Leave s3.sse.key out of the engine's configuration.")
}
