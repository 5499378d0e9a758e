package signing

import (
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// call is a request that was understood.
type call struct {
	method  string
	region  string
	op      operation
	to      target
	query   query
	headers headers
	sha256  string // of the body, for the signature; or one of the words that stand for it

	at      objects.Location   // the object, or the bucket
	list    objects.Location   // what a listing's prefix names
	source  objects.Location   // what is copied
	deletes []objects.Location // what DeleteObjects deletes
}

// read understands a request.
func read(p Profile, r Request) (call, error) {
	c, err := begin(p, r)
	if err != nil {
		return c, err
	}
	if err := c.readWhat(r.Body); err != nil {
		return c, err
	}
	c.sha256, err = payload(c, r.Body)
	return c, err
}

// begin understands what a request does and to which object, and not yet its body.
func begin(p Profile, r Request) (call, error) {
	c := call{method: r.Method}
	var err error
	if c.region, err = region(p, r); err != nil {
		return c, err
	}
	if c.to, c.query, err = readURI(p, c.region, r.URI); err != nil {
		return c, err
	}
	if c.to.bucket == "" {
		return c, fault.New(fault.Forbidden, "Requests that name no bucket are not signed.")
	}
	if c.at, err = objectAt(c.to.bucket, c.to.key); err != nil {
		return c, err
	}
	if c.headers, err = readHeaders(r.Headers, c.to.host); err != nil {
		return c, err
	}
	if c.op = classify(c); c.op == unknown {
		return c, fault.New(fault.Forbidden, "Requests like this are not signed: %s. Sluice signs those that read, write, list and delete a table's files.", c.shown())
	}
	return c, nil
}

// readWhat reads what the request names beside its URI's path.
func (c *call) readWhat(body string) error {
	var err error
	switch c.op {
	case listObjects:
		c.list, err = c.listed()
	case copyObject, uploadPartCopy:
		c.source, err = copySource(c.headers.value(copySourceHeader))
	case deleteObjects:
		c.deletes, err = deleted(c.to.bucket, body)
	}
	return err
}

// listed gives what a listing's prefix names. Prefixes are compared by character at the store and by segment here: one
// that is a table's location, without the slash after it, would list its neighbours of the same beginning too.
func (c *call) listed() (objects.Location, error) {
	prefix, _ := c.query.value("prefix")
	if prefix == "" {
		return objects.Location{}, fault.New(fault.Forbidden, "A listing of all of bucket %s is not signed. List a table's location.", c.to.bucket)
	}
	return objectAt(c.to.bucket, prefix)
}

// objectAt gives the location of a key, or of the bucket where there is none. A slash at the key's end is taken off.
func objectAt(bucket, key string) (objects.Location, error) {
	if key == "/" {
		return objects.Location{}, fault.New(fault.Invalid, "The key / in bucket %s has an empty path segment.", bucket)
	}
	return objects.Parse("s3://" + bucket + "/" + key)
}

// shown names a request in messages.
func (c *call) shown() string {
	s := c.method + " of " + c.at.String()
	if names := c.query.names(); names != "" {
		s += " with " + names
	}
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// region gives the region to sign for. It is a part of what is signed and holds nothing but letters, digits and hyphens.
func region(p Profile, r Request) (string, error) {
	name := p.Config.Region
	if name == "" {
		name = r.Region
	}
	if name == "" {
		name = "us-east-1"
	}
	if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return "", fault.New(fault.Invalid, "The region of the request is not valid. Send one such as us-east-1.")
	}
	return name, nil
}
