package store

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm/logger"
)

const slowStatement = 500 * time.Millisecond

// slowLog is GORM's logger: it reports slow statements, without their values. Errors are returned to callers, who
// know whether they matter, and are not logged here.
type slowLog struct{ log *slog.Logger }

var (
	_ logger.Interface = slowLog{}
	_ interface {
		ParamsFilter(context.Context, string, ...any) (string, []any)
	} = slowLog{}
)

// LogMode implements logger.Interface; there are no levels.
func (l slowLog) LogMode(logger.LogLevel) logger.Interface { return l }

// Info implements logger.Interface.
func (l slowLog) Info(ctx context.Context, format string, args ...any) {
	l.log.InfoContext(ctx, fmt.Sprintf(format, args...))
}

// Warn implements logger.Interface.
func (l slowLog) Warn(ctx context.Context, format string, args ...any) {
	l.log.WarnContext(ctx, fmt.Sprintf(format, args...))
}

// Error implements logger.Interface.
func (l slowLog) Error(ctx context.Context, format string, args ...any) {
	l.log.ErrorContext(ctx, fmt.Sprintf(format, args...))
}

// Trace implements logger.Interface: it is called after each statement.
func (l slowLog) Trace(ctx context.Context, begin time.Time, statement func() (string, int64), _ error) {
	took := time.Since(begin)
	if took < slowStatement {
		return
	}
	sql, rows := statement()
	l.log.WarnContext(ctx, "slow database statement", "tookMs", took.Milliseconds(), "rows", rows, "statement", sql)
}

// ParamsFilter keeps values out of the log: some are secrets' hashes.
func (l slowLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}
