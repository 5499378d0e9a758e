package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/fault"
)

// ReadObject reads the request body, which must be one JSON object. Its errors are TooLarge and Invalid.
func ReadObject(c *gin.Context) (*Fields, error) {
	body, err := readBody(c.Request)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, fault.New(fault.Invalid, "The request body is empty. Send a JSON object.")
	}
	if !utf8.Valid(body) {
		return nil, fault.New(fault.Invalid, "The request body is not valid UTF-8.")
	}
	if err := checkDepth(body); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, bodyError(err)
	}
	if members == nil {
		return nil, fault.New(fault.Invalid, "The request body must be a JSON object, not null.")
	}
	if name := repeated(body, len(members)); name != "" {
		return nil, fault.New(fault.Invalid, "Field %q is given more than once. Send each field once.", name)
	}
	return &Fields{members: members, err: new(error)}, nil
}

// PeekBody reads the request body and leaves it to be read again.
func PeekBody(c *gin.Context) ([]byte, error) {
	body, err := readBody(c.Request)
	if err != nil {
		return nil, err
	}
	Rewind(c, body)
	return body, nil
}

// Rewind makes the request's body one that PeekBody read, from its start.
func Rewind(c *gin.Context, body []byte) {
	c.Request.Body = &heldBody{Reader: bytes.NewReader(body), whole: body}
	c.Request.ContentLength = int64(len(body))
}

// heldBody is a body that was read already.
type heldBody struct {
	*bytes.Reader
	whole []byte
}

// Close has nothing to end.
func (*heldBody) Close() error { return nil }

func readBody(r *http.Request) ([]byte, error) {
	if held, ok := r.Body.(*heldBody); ok {
		return held.whole, nil
	}
	var buf bytes.Buffer
	if n := r.ContentLength; n > 0 && n < 1<<20 {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return nil, ReadError(err)
	}
	return buf.Bytes(), nil
}

// ReadError says why a request body could not be read.
func ReadError(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return TooLarge(tooLarge.Limit)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(err, fault.Invalid, "The request body ended before its announced length.")
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.Wrap(err, fault.Invalid, "The request body came too slowly, and nothing was done. Send it again over a faster connection.")
	}
	return fault.Wrap(err, fault.Invalid, "The request body could not be read. Send it again, as JSON, plain or gzip-compressed.")
}

// TooLarge is the refusal of a body over the limit in bytes.
func TooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "The request body is larger than the limit of %d bytes. Send a smaller request.", limit)
}

// maxDepth is how deep a body may nest: far more than schemas and filters do, far less than what exhausts a decoder.
const maxDepth = 1000

// checkDepth counts brackets outside of strings; whether the body is JSON at all is for the decoder to say.
func checkDepth(body []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return fault.New(fault.Invalid, "The request body nests deeper than %d levels. Flatten it.", maxDepth)
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return nil
}

func bodyError(err error) error {
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.New(fault.Invalid, "The request body must be a JSON object, not %s.", articleFor(wrongType.Value))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fault.New(fault.Invalid, "The request body is not valid JSON: %s at byte %d.", syntax.Error(), syntax.Offset)
	}
	return fault.Wrap(err, fault.Invalid, "The request body is not valid JSON.")
}

func articleFor(kind string) string {
	switch kind {
	case "array":
		return "an array"
	case "bool":
		return "a boolean"
	}
	return "a " + kind
}
