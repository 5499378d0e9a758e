package folder

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/versity/versitygw/s3err"
)

const (
	// workFolder holds what is being written. It is made when it is needed. No segment of a key has this name.
	workFolder = ".sluice-s3"
	// tempPrefix begins the names of files that are being written, and of no segment of a key. internal/objects writes
	// under such names too, and lists none.
	tempPrefix = ".sluice-tmp-"

	maxKey     = 1024 // bytes, as in S3
	maxSegment = 255  // bytes, what file systems allow
)

// CheckKey refuses keys that are not the path of exactly one file. A slash at the end names a folder marker.
func CheckKey(key string) error {
	if len(key) > maxKey {
		return s3err.GetKeyTooLongErr(int64(len(key)), maxKey)
	}
	if key == "" || !utf8.ValidString(key) || strings.ContainsFunc(key, control) {
		return badKey("A key here is UTF-8 text without control characters.")
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(key, "/"), "/") {
		switch {
		case segment == "" || segment == "." || segment == "..":
			return badKey("A key here is the path of a file: it has no empty, . or .. segment.")
		case len(segment) > maxSegment:
			return badKey("A key here is the path of a file: no segment is longer than 255 bytes.")
		case segment == workFolder || strings.HasPrefix(segment, tempPrefix):
			return badKey("The name .sluice-s3 and those that begin with .sluice-tmp- are reserved.")
		}
	}
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

func badKey(sentence string) error {
	return s3err.APIError{Code: "InvalidArgument", Description: sentence, HTTPStatusCode: http.StatusBadRequest}
}

// marker tells whether the key is that of a folder marker.
func marker(key string) bool { return strings.HasSuffix(key, "/") }

// filePath gives the path of a key below its bucket's folder.
func filePath(key string) string { return strings.TrimSuffix(key, "/") }

// parents gives the folders above a path, outermost first.
func parents(name string) []string {
	var all []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		all = append([]string{dir}, all...)
	}
	return all
}

// copySource takes a copy source apart exactly as versitygw's authorisation does: what was allowed is what is read.
// There are no versions here.
func copySource(header string) (bucket, key string, err error) {
	decoded, err := url.QueryUnescape(header)
	if err != nil {
		return "", "", s3err.GetInvalidArgumentErr(s3err.InvalidArgCopySourceEncoding, header)
	}
	bucket, key, found := strings.Cut(decoded, "/")
	if !found {
		return "", "", s3err.GetInvalidArgumentErr(s3err.InvalidArgCopySourceBucket, header)
	}
	if _, version, found := strings.Cut(decoded, "?versionId="); found {
		return "", "", s3err.GetInvalidArgumentErr(s3err.InvalidArgVersionId, version)
	}
	return bucket, key, CheckKey(key)
}
