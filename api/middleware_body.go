package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/data"
	"github.com/sluice-data/sluice/api/wire"
)

// limitBody refuses a body that is announced as larger than limit bytes, and stops reading one that turns out so.
func limitBody(limit int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.ContentLength > limit {
			c.Header("Connection", "close") // the rest is not worth reading
			wire.Fail(c, wire.TooLarge(limit))
			return
		}
		if c.Request.Body != nil && c.Request.Body != http.NoBody {
			c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, limit)
		}
	}
}

// unlessStreamed leaves a body alone that is read as it comes, under limits of its own.
func unlessStreamed(h gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.FullPath() != DataPath+data.WritePath {
			h(c)
		}
	}
}

// inflateBody lets handlers read a gzip-compressed body as if it were plain, limit bytes of it at most.
func inflateBody(limit int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		switch strings.ToLower(strings.TrimSpace(c.GetHeader("Content-Encoding"))) {
		case "", "identity":
			return
		case "gzip", "x-gzip":
		default:
			wire.Fail(c, &answer{
				status: http.StatusUnsupportedMediaType, kind: "UnsupportedMediaTypeException",
				message: "This Content-Encoding is not supported. Send the body plain or with gzip.",
			})
			return
		}
		inflated := &inflater{wire: c.Request.Body}
		c.Request.Body = http.MaxBytesReader(c.Writer, inflated, limit)
		c.Request.ContentLength = -1
		c.Request.Header.Del("Content-Encoding")
	}
}

// inflater reads the gzip header at the first read, so that a broken one is the reading handler's error.
type inflater struct {
	wire  io.ReadCloser
	plain *gzip.Reader
}

func (i *inflater) Read(p []byte) (int, error) {
	if i.plain == nil {
		r, err := gzip.NewReader(i.wire)
		if err != nil {
			return 0, err
		}
		i.plain = r
	}
	return i.plain.Read(p)
}

// Close closes the body as sent; gzip readers hold nothing.
func (i *inflater) Close() error { return i.wire.Close() }
