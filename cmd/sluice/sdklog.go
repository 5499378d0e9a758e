package main

import (
	"context"
	"log/slog"
)

// sdkLogger is for Temporal's SDK, whose every start and stop of a worker is news to nobody: it passes on warnings, or
// everything where debugging is asked for.
func sdkLogger(log *slog.Logger) *slog.Logger {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		return log
	}
	return slog.New(warnings{log.Handler()})
}

// warnings is a handler that takes nothing below a warning.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler, as do the methods below.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
