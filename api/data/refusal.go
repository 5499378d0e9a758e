package data

import (
	"errors"
	"net/http"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/dataplane"
)

// refusal gives errors of the data plane the shape that the API answers them in.
func refusal(err error) error {
	if tooMany, ok := errors.AsType[*dataplane.TooManyError](err); ok {
		return &wire.RefusalError{Status: http.StatusTooManyRequests, Kind: "SlowDownException", Message: tooMany.Message, RetryAfter: tooMany.Retry}
	}
	if rows, ok := errors.AsType[*dataplane.WriteErrors](err); ok {
		return &wire.DetailedError{Err: err, Details: rows.Rows}
	}
	return err
}
