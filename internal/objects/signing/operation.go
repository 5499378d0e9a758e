package signing

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// operation is what a request does at the store.
type operation string

// The operations that are signed. There are no others.
const (
	unknown        operation = ""
	readObject     operation = "read object" // GET and HEAD, ranges and parts included
	putObject      operation = "put object"
	copyObject     operation = "copy object"
	createUpload   operation = "create upload"
	uploadPart     operation = "upload part"
	uploadPartCopy operation = "copy into part"
	listParts      operation = "list parts"
	completeUpload operation = "complete upload"
	abortUpload    operation = "abort upload"
	deleteObject   operation = "delete object"
	deleteObjects  operation = "delete objects"
	listObjects    operation = "list objects"
	askBucket      operation = "ask for bucket" // whether it is there, and its region
)

// reads tells whether an operation changes nothing.
func (o operation) reads() bool {
	return o == readObject || o == listParts || o == listObjects || o == askBucket
}

// classify tells what a request does, by its method, whether it names an object, its parameters and whether it copies.
func classify(c call) operation {
	copies := c.headers.value(copySourceHeader) != ""
	if c.headers.has(copySourceHeader) && (c.method != http.MethodPut || !copies) {
		return unknown
	}
	if c.to.key == "" {
		return classifyBucket(c.method, c.query)
	}
	return classifyObject(c.method, c.query, copies)
}

func classifyObject(method string, q query, copies bool) operation {
	switch method {
	case http.MethodHead:
		if q.fits(nil, "partNumber") {
			return readObject
		}
	case http.MethodGet:
		if q.fits(nil, "partNumber") {
			return readObject
		}
		if q.fits([]string{"uploadId"}, "max-parts", "part-number-marker", "encoding-type") {
			return listParts
		}
	case http.MethodPut:
		return classifyPut(q, copies)
	case http.MethodPost:
		if q.fits([]string{"uploads"}) {
			return createUpload
		}
		if q.fits([]string{"uploadId"}) {
			return completeUpload
		}
	case http.MethodDelete:
		if q.fits(nil) {
			return deleteObject
		}
		if q.fits([]string{"uploadId"}) {
			return abortUpload
		}
	}
	return unknown
}

func classifyPut(q query, copies bool) operation {
	whole, part := q.fits(nil), q.fits([]string{"partNumber", "uploadId"})
	switch {
	case whole && copies:
		return copyObject
	case whole:
		return putObject
	case part && copies:
		return uploadPartCopy
	case part:
		return uploadPart
	}
	return unknown
}

func classifyBucket(method string, q query) operation {
	switch method {
	case http.MethodHead:
		if q.fits(nil) {
			return askBucket
		}
	case http.MethodGet:
		if q.fits([]string{"location"}) {
			return askBucket
		}
		if q.fits([]string{"list-type"}, "prefix", "delimiter", "max-keys", "continuation-token", "start-after", "encoding-type", "fetch-owner") ||
			q.fits(nil, "prefix", "delimiter", "max-keys", "marker", "encoding-type") {
			return listObjects
		}
	case http.MethodPost:
		if q.fits([]string{"delete"}) {
			return deleteObjects
		}
	}
	return unknown
}

// fits tells whether the query has all parameters of needs, none beside them and those of may, and sound values. The
// parameter x-id, by which some clients name their operation to themselves, may always be there.
func (q query) fits(needs []string, may ...string) bool {
	for _, name := range needs {
		if !q.has(name) {
			return false
		}
	}
	for _, p := range q {
		if p.name != "x-id" && !slices.Contains(needs, p.name) && !slices.Contains(may, p.name) {
			return false
		}
		if !p.sound() {
			return false
		}
	}
	return true
}

// sound tells whether a parameter's value is one of those that its name may have.
func (p parameter) sound() bool {
	switch p.name {
	case "uploads", "delete", "location":
		return p.value == ""
	case "list-type":
		return p.value == "2"
	case "encoding-type":
		return p.value == "url"
	case "uploadId": // a name of the store's making, which some stores make a path of
		return p.value != "" && !strings.Contains(p.value, "..") && !strings.ContainsFunc(p.value, unicode.IsControl)
	case "partNumber":
		return between(p.value, 1, 10_000)
	case "max-keys", "max-parts", "part-number-marker":
		return p.value == "" || between(p.value, 0, 1<<31-1)
	case "x-id":
		return !slices.ContainsFunc([]byte(p.value), func(c byte) bool { return !unreserved(c) })
	}
	return true
}

func between(s string, least, most int) bool {
	n, err := strconv.Atoi(s)
	return err == nil && least <= n && n <= most
}
