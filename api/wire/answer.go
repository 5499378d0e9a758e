package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gin-gonic/gin"
)

// JSON answers with v. Its length is known before the first byte, so that a short answer is not compressed.
func JSON(c *gin.Context, status int, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	Raw(c, status, buf.Bytes())
	return nil
}

// Raw answers with JSON given in parts, which are written as they are, one after the other.
func Raw(c *gin.Context, status int, parts ...[]byte) {
	length := 0
	for _, p := range parts {
		length += len(p)
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(length))
	c.Status(status)
	for _, p := range parts {
		if _, err := c.Writer.Write(p); err != nil {
			return // the client is gone; the access log has its status
		}
	}
}

// NoContent answers 204.
func NoContent(c *gin.Context) error {
	c.Status(204)
	return nil
}
