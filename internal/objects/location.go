package objects

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
)

// The schemes of normalised locations. s3a and s3n are other names of s3; abfs, wasb and wasbs of abfss.
const (
	schemeFile  = "file"
	schemeS3    = "s3"
	schemeGCS   = "gs"
	schemeAzure = "abfss"
)

// examples is what messages show of the schemes.
const examples = "s3://bucket/path, gs://bucket/path, abfss://container@account.dfs.core.windows.net/path or file:///path"

// Longest names, in bytes: of keys in S3, Google Cloud Storage and Azure by their specifications, of a path by PATH_MAX.
const (
	maxKey    = 1024
	maxPath   = 4095
	maxBucket = 63

	maxDottedBucket = 222 // of a Google Cloud Storage bucket that is named by a domain
)

// Location is a normalised absolute location: of an object, a folder or a bucket. Two locations name the same place
// exactly when they are equal. The zero value is no location: it is within nothing and nothing is within it.
//
// A percent sign is a character like any other, as it is for the engines: Iceberg writes the partition value "a/b" as
// the folder p=a%2Fb. Encodings whose decoding would climb out of their folder are refused all the same.
type Location struct {
	scheme string
	bucket string // container@host in Azure, "" for files
	key    string // without leading or trailing slash; "" for a whole bucket or the file system's root
}

// Parse reads s3://bucket/key (or s3a, s3n), gs://bucket/key, abfss://container@account.dfs.core.windows.net/path (or abfs,
// wasb, wasbs, and the account's blob host), file:///path, file:/path or /path. Errors are fault.Invalid and say what is
// wrong with the location.
func Parse(location string) (Location, error) {
	loc, wrong := parse(location)
	if wrong != "" {
		return Location{}, fault.New(fault.Invalid, "Location %s is not valid: %s.", shown(location), wrong)
	}
	return loc, nil
}

// shown quotes what a client sent, cut to a length that fits into a message.
func shown(s string) string {
	const most = 200
	if len(s) > most {
		return fmt.Sprintf("%.*q…", most, s)
	}
	return fmt.Sprintf("%q", s)
}

// parse gives the location, or what is wrong. It allocates nothing for a normal location.
func parse(s string) (loc Location, wrong string) {
	if s == "" {
		return loc, "it is empty"
	}
	if strings.HasPrefix(s, "/") {
		loc.scheme = schemeFile
		return loc.withKey(s[1:], maxPath)
	}
	scheme, rest, found := strings.Cut(s, ":")
	if !found || strings.Contains(scheme, "/") {
		return loc, "it has no scheme; use one such as " + examples
	}
	switch {
	case strings.EqualFold(scheme, schemeFile):
		loc.scheme = schemeFile
		return loc.withFilePath(rest)
	case strings.EqualFold(scheme, schemeS3), strings.EqualFold(scheme, "s3a"), strings.EqualFold(scheme, "s3n"):
		loc.scheme = schemeS3
		return loc.withBucketAndKey(rest)
	case strings.EqualFold(scheme, schemeGCS):
		loc.scheme = schemeGCS
		return loc.withBucketAndKey(rest)
	case isAzure(scheme):
		loc.scheme = schemeAzure
		return loc.withContainerAndKey(rest)
	}
	return loc, "its scheme is not supported; use one such as " + examples
}

// withFilePath reads what follows "file:".
func (l Location) withFilePath(rest string) (Location, string) {
	if authority, found := strings.CutPrefix(rest, "//"); found {
		host, path, found := strings.Cut(authority, "/")
		if !found || (host != "" && !strings.EqualFold(host, "localhost")) {
			return l, "it names a host; local files are file:///path"
		}
		return l.withKey(path, maxPath)
	}
	path, found := strings.CutPrefix(rest, "/")
	if !found {
		return l, "its path is relative; use file:///path"
	}
	return l.withKey(path, maxPath)
}

// withBucketAndKey reads what follows "s3:" or "gs:".
func (l Location) withBucketAndKey(rest string) (Location, string) {
	authority, found := strings.CutPrefix(rest, "//")
	if !found {
		return l, "it has no bucket; use " + l.scheme + "://bucket/path"
	}
	bucket, key, _ := strings.Cut(authority, "/")
	if bucket == "" {
		return l, "it has no bucket; use " + l.scheme + "://bucket/path"
	}
	longest := maxBucket
	if l.scheme == schemeGCS && strings.Contains(bucket, ".") {
		longest = maxDottedBucket
	}
	if len(bucket) > longest {
		return l, fmt.Sprintf("its bucket name is longer than %d characters", longest)
	}
	if wrong := checkBucket(bucket); wrong != "" {
		return l, wrong
	}
	l.bucket = bucket
	return l.withKey(key, maxKey)
}

// checkBucket refuses upper case rather than folding it: engines would use the name as it was written.
func checkBucket(bucket string) string {
	switch {
	case strings.Contains(bucket, "..") || strings.Trim(bucket, ".-_") != bucket:
		return "its bucket name begins, ends or continues with a dot where none may be"
	}
	for _, c := range []byte(bucket) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
		case 'A' <= c && c <= 'Z':
			return "its bucket name has upper-case letters; bucket names are lower-case"
		default:
			return "its bucket name has a character other than a-z, 0-9, dot, hyphen and underscore"
		}
	}
	return ""
}

// withKey sets the key, without the one trailing slash it may have.
func (l Location) withKey(key string, longest int) (Location, string) {
	key = strings.TrimSuffix(key, "/")
	if len(key) > longest {
		return l, fmt.Sprintf("its path is longer than %d bytes", longest)
	}
	l.key = key
	if key == "" {
		return l, ""
	}
	return l, checkKey(key)
}

// checkKey gives what is wrong with a key: characters first, then each segment.
func checkKey(key string) string {
	if !utf8.ValidString(key) {
		return "it is not valid UTF-8"
	}
	for _, r := range key {
		switch {
		case unicode.IsControl(r):
			return "it has a control character"
		case r == '?' || r == '#':
			return "it has a query or fragment (a ? or # character)"
		case r == '\\':
			return "it has a backslash"
		}
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" {
			return "it has an empty path segment (//)"
		}
		if wrong := checkSegment(segment); wrong != "" {
			return wrong
		}
	}
	return ""
}

// checkSegment refuses dots that climb, also when percent-encoded, once or many times.
func checkSegment(segment string) string {
	if segment == "." || segment == ".." {
		return "it has a . or .. path segment"
	}
	for strings.Contains(segment, "%") {
		decoded := unescape(segment)
		if decoded == segment {
			break
		}
		segment = decoded
		if strings.ContainsRune(segment, 0) {
			return "it hides a NUL in a percent-encoding"
		}
		for part := range strings.FieldsFuncSeq(segment, func(r rune) bool { return r == '/' || r == '\\' }) {
			if part == "." || part == ".." {
				return "it hides a . or .. path segment in a percent-encoding"
			}
		}
	}
	return ""
}

// unescape decodes what is a percent-encoding and leaves the rest alone, as the laxest reader would.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				out = append(out, b[0])
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// String gives the normal form: s3://bucket/key, gs://bucket/key, abfss://container@account.dfs.suffix/key or
// file:///path, without a trailing slash; "" for the zero value.
func (l Location) String() string {
	switch {
	case l.scheme == "":
		return ""
	case l.scheme == schemeFile:
		return "file:///" + l.key
	case l.key == "":
		return l.scheme + "://" + l.bucket
	}
	return l.scheme + "://" + l.bucket + "/" + l.key
}

// IsFile tells whether the location is on the local file system.
func (l Location) IsFile() bool { return l.scheme == schemeFile }

// IsS3 tells whether the location is in an S3-compatible store.
func (l Location) IsS3() bool { return l.scheme == schemeS3 }

// Bucket gives the bucket, container@host in Azure, "" for local files.
func (l Location) Bucket() string { return l.bucket }

// Key gives the key of the object in its bucket, without a leading slash; "" for the whole bucket.
func (l Location) Key() string { return l.key }

// At gives the location of an object that a store listed in the same bucket, as the key is: it is not checked.
func (l Location) At(key string) Location {
	return Location{scheme: l.scheme, bucket: l.bucket, key: key}
}

// Path gives the path of a local file, "" for anything else.
func (l Location) Path() string {
	if !l.IsFile() {
		return ""
	}
	return "/" + l.key
}

// Within tells whether loc is prefix or lies below it, by whole segments: /wh/ab is not within /wh/a.
func Within(prefix, loc Location) bool {
	if prefix.scheme == "" || prefix.scheme != loc.scheme || prefix.bucket != loc.bucket {
		return false
	}
	rest, found := strings.CutPrefix(loc.key, prefix.key)
	return found && (prefix.key == "" || rest == "" || rest[0] == '/')
}

// WithinStrings is Within of two strings; false when either is no valid location.
func WithinStrings(prefix, loc string) bool {
	p, wrong := parse(prefix)
	if wrong != "" {
		return false
	}
	l, wrong := parse(loc)
	return wrong == "" && Within(p, l)
}

// Overlaps tells whether one location is the other or lies below it.
func Overlaps(a, b Location) bool { return Within(a, b) || Within(b, a) }

// Join gives the location of rel, one or more segments, below base. It never leaves base: errors are fault.Invalid.
func Join(base Location, rel string) (Location, error) {
	if base.scheme == "" {
		return Location{}, fault.New(fault.Invalid, "Path %s has no location to be below.", shown(rel))
	}
	if strings.HasPrefix(rel, "/") {
		return Location{}, fault.New(fault.Invalid, "Path %s is absolute; give one relative to %s.", shown(rel), base)
	}
	return Parse(strings.TrimSuffix(base.String(), "/") + "/" + rel)
}
