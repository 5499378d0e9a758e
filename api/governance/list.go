package governance

import (
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// list is every list's answer. Next is the value of ?after= for the next page, absent after the last one; a page
// that happens to end the list may still have one, and then the next page is empty.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// listOf converts rows; key gives the value that continues after a row.
func listOf[R, T any](rows []R, limit int, convert func(R) T, key func(R) string) list[T] {
	out := list[T]{Items: make([]T, 0, len(rows))}
	for _, row := range rows {
		out.Items = append(out.Items, convert(row))
	}
	if len(rows) >= limit {
		out.Next = key(rows[len(rows)-1])
	}
	return out
}

func limitOf(c *gin.Context) (int, error) {
	raw := c.Query("limit")
	if raw == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < 1 || n > maxLimit {
		return 0, fault.New(fault.Invalid, "The parameter limit must be a whole number from 1 to %d.", maxLimit)
	}
	return n, nil
}

// beforeOf reads ?after= of a list that runs from the newest row down: the id of the last row seen.
func beforeOf(c *gin.Context) (int64, error) {
	raw := c.Query("after")
	if raw == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "The parameter after must be the next value of an earlier page.")
	}
	return n, nil
}

// sinceOf reads ?since=: a time, or how long ago that was.
func (h *Handler) sinceOf(c *gin.Context) (time.Time, error) {
	raw := c.Query("since")
	if raw == "" {
		return time.Time{}, nil
	}
	at, err := h.timeOf(raw)
	if err != nil {
		return time.Time{}, fault.New(fault.Invalid, "The parameter since must be a time such as 2026-01-31T08:00:00Z (RFC 3339), or an age such as 24h or 7d.")
	}
	return at, nil
}

// timeOf reads a time, or how long ago it was.
func (h *Handler) timeOf(text string) (time.Time, error) {
	if age, err := models.ParseDuration(text); err == nil && age > 0 {
		return h.Now().Add(-age), nil
	}
	return time.Parse(time.RFC3339, text)
}

func idString(id *int64) *string {
	if id == nil {
		return nil
	}
	s := strconv.FormatInt(*id, 10)
	return &s
}

func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
