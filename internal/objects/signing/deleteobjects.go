package signing

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

const (
	maxDeleteBody = 3 << 20
	maxDeleteKeys = 1000
	s3Namespace   = "http://s3.amazonaws.com/doc/2006-03-01/"
)

// errDeleteBody is any way in which a body is not the plain form that every store reads alike.
var errDeleteBody = errors.New("not a plain list of keys")

// deleted gives the objects that the body of DeleteObjects names. It is read more strictly than stores read it, so that
// there is nothing in it that one reader sees and another does not.
func deleted(bucket, body string) ([]objects.Location, error) {
	return someDeleted(bucket, body, maxDeleteKeys)
}

// firstDeleted gives the first of them. What follows is not looked at.
func firstDeleted(bucket, body string) (objects.Location, error) {
	at, err := someDeleted(bucket, body, 1)
	if err != nil {
		return objects.Location{}, err
	}
	return at[0], nil
}

// someDeleted gives all objects or, if most is less than there may be, the first of them.
func someDeleted(bucket, body string, most int) ([]objects.Location, error) {
	if body == "" {
		return nil, fault.New(fault.Invalid, "A request that deletes many objects is signed with its body alone, which names them. Send body in the request to sign it, or delete objects one by one.")
	}
	if len(body) > maxDeleteBody {
		return nil, fault.New(fault.Invalid, "The list of objects to delete is longer than %d bytes.", maxDeleteBody)
	}
	keys, err := deleteKeys(body, most)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The list of objects to delete is not valid. Send <Delete> with an <Object> of one <Key> for each, at most %d, and without versions.", maxDeleteKeys)
	}
	at := make([]objects.Location, len(keys))
	for i, key := range keys {
		if at[i], err = objectAt(bucket, key); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// deleteReader reads the body of DeleteObjects.
type deleteReader struct {
	path []string // the elements that are open
	text strings.Builder
	keys []string
	seen map[string]bool // the elements of the object that is open
	done bool            // the outermost element is closed
}

// deleteKeys gives the keys of a body; after most of them, if that is less than there may be, it reads no more.
func deleteKeys(body string, most int) ([]string, error) {
	d := xml.NewDecoder(strings.NewReader(body))
	r := deleteReader{}
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := r.take(token); err != nil {
			return nil, err
		}
		if len(r.keys) == most && most < maxDeleteKeys {
			return r.keys, nil
		}
	}
	if !r.done || len(r.keys) == 0 {
		return nil, errDeleteBody
	}
	return r.keys, nil
}

// take reads one token. RawToken checks no nesting: that is done here.
func (r *deleteReader) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.ProcInst:
		if t.Target == "xml" && len(r.path) == 0 && !r.done {
			return nil
		}
	case xml.CharData:
		if strings.TrimSpace(string(t)) == "" || holdsText(r.within()) {
			r.text.Write(t)
			return nil
		}
	case xml.StartElement:
		return r.open(t)
	case xml.EndElement:
		return r.close(t)
	}
	return errDeleteBody // a comment or a directive, or one of the above where it must not be
}

// within names the element that is open, by its path.
func (r *deleteReader) within() string { return strings.Join(r.path, "/") }

// holdsText tells whether the element of a path holds text alone.
func holdsText(path string) bool {
	switch path {
	case "Delete/Quiet", "Delete/Object/Key", "Delete/Object/ETag", "Delete/Object/LastModifiedTime", "Delete/Object/Size":
		return true
	}
	return false
}

// open goes into an element.
func (r *deleteReader) open(t xml.StartElement) error {
	if r.done || t.Name.Space != "" || !r.plainAttributes(t.Attr) {
		return errDeleteBody
	}
	name := t.Name.Local
	r.path = append(r.path, name)
	r.text.Reset()
	switch path := r.within(); {
	case path == "Delete", path == "Delete/Quiet":
	case path == "Delete/Object":
		r.seen = map[string]bool{}
	case holdsText(path) && !r.seen[name]:
		r.seen[name] = true
	default:
		return errDeleteBody
	}
	return nil
}

// plainAttributes lets the outermost element say S3's namespace, and nothing else.
func (r *deleteReader) plainAttributes(attributes []xml.Attr) bool {
	for _, a := range attributes {
		if len(r.path) > 0 || a.Name != (xml.Name{Local: "xmlns"}) || a.Value != s3Namespace {
			return false
		}
	}
	return true
}

// close ends an element.
func (r *deleteReader) close(t xml.EndElement) error {
	last := len(r.path) - 1
	if last < 0 || t.Name != (xml.Name{Local: r.path[last]}) {
		return errDeleteBody
	}
	switch r.within() {
	case "Delete":
		r.done = true
	case "Delete/Object":
		if !r.seen["Key"] {
			return errDeleteBody
		}
	case "Delete/Object/Key":
		r.keys = append(r.keys, r.text.String())
		if len(r.keys) > maxDeleteKeys {
			return errDeleteBody
		}
	}
	r.path = r.path[:last]
	return nil
}
