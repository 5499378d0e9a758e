package wire

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
)

// Where the middleware and handlers of a request leave what others need of it.
const (
	callerKey  = "sluice.caller"
	catalogKey = "sluice.catalog"
	wholeKey   = "sluice.whole"
	againKey   = "sluice.again"
	decodedKey = "sluice.decoded"
)

// SetCaller keeps who asks for the handlers of the request.
func SetCaller(c *gin.Context, caller policy.Caller) { c.Set(callerKey, caller) }

// Caller gives who asks; the zero Caller, who holds nothing, on a route without authentication.
func Caller(c *gin.Context) policy.Caller {
	if v, ok := c.Get(callerKey); ok {
		if caller, ok := v.(policy.Caller); ok {
			return caller
		}
	}
	return policy.Caller{}
}

// SetWhole keeps the context of the request without the time limit of ordinary ones.
func SetWhole(c *gin.Context, whole context.Context) { c.Set(wholeKey, whole) }

// Whole gives it, for answers that go on for as long as the client stays.
func Whole(c *gin.Context) context.Context {
	if v, ok := c.Get(wholeKey); ok {
		if whole, ok := v.(context.Context); ok {
			return whole
		}
	}
	return c.Request.Context()
}

// SetAgain keeps how to find out anew who asks.
func SetAgain(c *gin.Context, again func(context.Context) (policy.Caller, error)) {
	c.Set(againKey, again)
}

// CallerAgain finds out anew who asks: the token may have ended since, and its rights may be others.
func CallerAgain(ctx context.Context, c *gin.Context) (policy.Caller, error) {
	if v, ok := c.Get(againKey); ok {
		if again, ok := v.(func(context.Context) (policy.Caller, error)); ok {
			return again(ctx)
		}
	}
	return Caller(c), nil
}

// SetCatalog keeps the name of the catalog that the request turned out to mean.
func SetCatalog(c *gin.Context, name string) { c.Set(catalogKey, name) }

// Catalog gives that name, "" while it is not known.
func Catalog(c *gin.Context) string { return c.GetString(catalogKey) }

// Handle turns a handler that returns its error into gin's shape; the error middleware writes the answer.
func Handle(h func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			Fail(c, err)
		}
	}
}

// Fail hands the error to the error middleware and runs no further handler.
func Fail(c *gin.Context, err error) {
	_ = c.Error(err)
	c.Abort()
}

// DecodePath decodes every path parameter once. A raw "+" is a plus sign (RFC 3986), except from Iceberg's Java
// client, whose releases up to 1.12 form-encode path segments: there it is a space.
func DecodePath(c *gin.Context) {
	values := make([]string, len(c.Params))
	for i, p := range c.Params {
		value, err := decodeSegment(p.Value, formEncodes(c))
		if err != nil {
			Fail(c, err)
			return
		}
		values[i] = value
	}
	for i, value := range values {
		c.Params[i].Value = value
	}
	c.Set(decodedKey, true)
}

func formEncodes(c *gin.Context) bool {
	return strings.HasPrefix(c.GetHeader("X-Client-Version"), "Apache Iceberg")
}

// Param gives a path parameter decoded, be it before or after DecodePath; "" for one that cannot be decoded.
func Param(c *gin.Context, name string) string {
	if c.GetBool(decodedKey) {
		return c.Param(name)
	}
	value, err := decodeSegment(c.Param(name), formEncodes(c))
	if err != nil {
		return ""
	}
	return value
}

func decodeSegment(raw string, formEncoded bool) (string, error) {
	if formEncoded {
		raw = strings.ReplaceAll(raw, "+", "%20")
	}
	value, err := url.PathUnescape(raw)
	if err != nil {
		return "", fault.New(fault.Invalid, "The path has a broken percent-encoding. Encode names as UTF-8, each byte as %%XX.")
	}
	if !utf8.ValidString(value) {
		return "", fault.New(fault.Invalid, "A name in the path is not valid UTF-8. Encode names as UTF-8, each byte as %%XX.")
	}
	return value, nil
}

// CheckQuery refuses a query string that cannot be decoded, which net/url would half ignore.
func CheckQuery(c *gin.Context) {
	if c.Request.URL.RawQuery == "" {
		return
	}
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		Fail(c, fault.New(fault.Invalid, "The query string has a broken encoding. Percent-encode parameter values as UTF-8."))
		return
	}
	for key, list := range values {
		for _, v := range list {
			if !utf8.ValidString(v) {
				Fail(c, fault.New(fault.Invalid, "The query parameter %q is not valid UTF-8.", strings.ToValidUTF8(key, "?")))
				return
			}
		}
	}
}
