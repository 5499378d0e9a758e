package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
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
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, bodyError(err)
	}
	if members == nil {
		return nil, fault.New(fault.Invalid, "The request body must be a JSON object, not null.")
	}
	return &Fields{members: members, err: new(error)}, nil
}

func readBody(r *http.Request) ([]byte, error) {
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
	return fault.Wrap(err, fault.Invalid, "The request body could not be read. Send it again, as JSON, plain or gzip-compressed.")
}

// TooLarge is the refusal of a body over the limit in bytes.
func TooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "The request body is larger than the limit of %d bytes. Send a smaller request.", limit)
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
