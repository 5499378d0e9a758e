package temporalx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/server/common/log/tag"
)

func TestReportsOfCallersThatHungUpAreNoNews(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := newServerLogger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo})))
	l.enter(running)
	l.Error("Operation failed", tag.Error(fmt.Errorf("no task queue: %w", context.Canceled)))
	assert.Empty(t, out.String())
	l.Error("Operation failed", tag.Error(errors.New("context canceled, and the disk is full")))
	assert.Contains(t, out.String(), "the disk is full")
}
