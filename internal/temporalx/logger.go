package temporalx

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLogger hands Temporal's logs to slog, without its chatter: a healthy
// server says nothing.
type serverLogger struct {
	out   *slog.Logger
	level slog.Level
	phase *atomic.Int32
}

// What Temporal is doing decides what its reports mean.
const (
	// building: a fatal report, at which Temporal's own logger would exit the
	// process, ends the start with an error.
	building int32 = iota
	// running: a fatal report is logged and survived. The catalog goes on
	// committing while workflows wait in the outbox.
	running
	// stopping: services complain about each other's end, which is no news.
	stopping
)

// Warnings that are no news, by their beginnings.
const (
	noNexus  = "HTTP API port has not been set" // at every start: we leave it closed on purpose
	pageSize = "GetHistory page size is larger" // of each worker: the SDK asks for pages larger than the server gives
)

var _ log.Logger = serverLogger{}

// fatalReport is what is panicked with.
type fatalReport struct{ text string }

func newServerLogger(out *slog.Logger) serverLogger {
	level := slog.LevelWarn
	if out.Enabled(context.Background(), slog.LevelDebug) {
		level = slog.LevelDebug
	}
	return serverLogger{out: out.With("component", "temporal"), level: level, phase: &atomic.Int32{}}
}

func (l serverLogger) enter(phase int32) { l.phase.Store(phase) }

func (l serverLogger) write(level slog.Level, msg string, tags []tag.Tag) {
	if level < l.level || l.isExpected(msg, tags) {
		return
	}
	attrs := make([]slog.Attr, len(tags))
	for i, t := range tags {
		attrs[i] = slog.Any(t.Key(), t.Value())
	}
	l.out.LogAttrs(context.Background(), level, msg, attrs...)
}

func (l serverLogger) isExpected(msg string, tags []tag.Tag) bool {
	return l.level > slog.LevelDebug &&
		(l.phase.Load() == stopping || strings.HasPrefix(msg, noNexus) || strings.HasPrefix(msg, pageSize) || hungUp(tags))
}

// hungUp tells whether a report is of an operation whose caller went away, as workers do when they stop.
func hungUp(tags []tag.Tag) bool {
	return slices.ContainsFunc(tags, func(t tag.Tag) bool {
		return t.Key() == "error" && strings.HasSuffix(fmt.Sprint(t.Value()), context.Canceled.Error())
	})
}

func (l serverLogger) fatal(msg string, tags []tag.Tag) {
	if l.phase.Load() != building {
		l.write(slog.LevelError, "fatal report: "+msg, tags)
		return
	}
	l.panic(msg, tags)
}

func (l serverLogger) panic(msg string, tags []tag.Tag) {
	for _, t := range tags {
		msg += fmt.Sprintf(", %s: %v", t.Key(), t.Value())
	}
	panic(fatalReport{msg})
}

// Debug implements log.Logger, as do the methods below.
func (l serverLogger) Debug(msg string, tags ...tag.Tag)  { l.write(slog.LevelDebug, msg, tags) }
func (l serverLogger) Info(msg string, tags ...tag.Tag)   { l.write(slog.LevelInfo, msg, tags) }
func (l serverLogger) Warn(msg string, tags ...tag.Tag)   { l.write(slog.LevelWarn, msg, tags) }
func (l serverLogger) Error(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l serverLogger) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

// Panic always panics: Temporal relies on not going on after it.
func (l serverLogger) Panic(msg string, tags ...tag.Tag) { l.panic(msg, tags) }

// Fatal ends the start, or is only logged later.
func (l serverLogger) Fatal(msg string, tags ...tag.Tag) { l.fatal(msg, tags) }
