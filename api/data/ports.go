package data

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/models"
)

// Rows are the use cases of rows: *dataplane.Service.
type Rows interface {
	Query(ctx context.Context, caller policy.Caller, ref string, in dataplane.QueryInput, sink dataplane.Sink) error
	Write(ctx context.Context, caller policy.Caller, ref string, in dataplane.WriteInput) (dataplane.WriteResult, error)
	Preview(ctx context.Context, caller policy.Caller, ref string, limit int) (dataplane.Preview, error)
	Profile(ctx context.Context, caller policy.Caller, ref string) (dataplane.Profile, error)
}

// Audit is the use cases of what governed writes landed: *dataplane.Service.
type Audit interface {
	ListWrites(ctx context.Context, caller policy.Caller, ref string, f models.GovernedWriteFilter) ([]models.GovernedWrite, error)
	ShowWrite(ctx context.Context, caller policy.Caller, id string) (models.GovernedWrite, error)
	WrittenRows(ctx context.Context, caller policy.Caller, id string, after dataplane.RowPlace, limit int) ([]rowaudit.Record, *dataplane.RowPlace, error)
	FindRow(ctx context.Context, caller policy.Caller, ref string, identity json.RawMessage) ([16]byte, []dataplane.Landing, error)
}

// Deps is what the API needs.
type Deps struct {
	Rows         Rows
	Audit        Audit
	RequestBytes int64 // of one write, as sent and again after inflation
	Log          *slog.Logger
}
