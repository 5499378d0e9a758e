package telemetry

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// LogOptions say what is logged and how.
type LogOptions struct {
	Level  string // debug, info, warn or error; anything else means info
	Format string // text or json; anything else means text on a terminal and JSON elsewhere
}

// NewLogger makes a logger that writes to out.
func NewLogger(out io.Writer, o LogOptions) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(o.Level)) // left at info when unreadable
	options := &slog.HandlerOptions{Level: level}
	if o.Format == "text" || o.Format != "json" && isTerminal(out) {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options))
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // a file descriptor fits
}
