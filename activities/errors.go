package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-data/sluice/internal/fault"
)

// ErrorType is the type string of an application error: retry policies and workflows compare it. The strings are
// written into histories and never change.
type ErrorType string

// The types, one for each fault.Code.
const (
	InvalidError         ErrorType = "sluice.invalid"
	UnauthenticatedError ErrorType = "sluice.unauthenticated"
	ForbiddenError       ErrorType = "sluice.forbidden"
	NotFoundError        ErrorType = "sluice.not_found"
	UnsupportedError     ErrorType = "sluice.unsupported"
	AlreadyExistsError   ErrorType = "sluice.already_exists"
	ConflictError        ErrorType = "sluice.conflict"
	NotEmptyError        ErrorType = "sluice.not_empty"
	TooLargeError        ErrorType = "sluice.too_large"
	UnprocessableError   ErrorType = "sluice.unprocessable"
	UnavailableError     ErrorType = "sluice.unavailable"
	UnknownStateError    ErrorType = "sluice.unknown_state"
	InternalError        ErrorType = "sluice.internal"
)

// treatment is how Temporal handles an error of one code.
type treatment struct {
	Type      ErrorType
	Retryable bool
}

// treatmentOf is the one table from codes to retryability. Waiting cures a lost race, an unavailable part and, since
// every activity is idempotent, an unknown outcome; a wrong or forbidden request stays so. Unknown codes are retried.
func treatmentOf(code fault.Code) treatment {
	switch code {
	case fault.Invalid:
		return treatment{InvalidError, false}
	case fault.Unauthenticated:
		return treatment{UnauthenticatedError, false}
	case fault.Forbidden:
		return treatment{ForbiddenError, false}
	case fault.NotFound:
		return treatment{NotFoundError, false}
	case fault.Unsupported:
		return treatment{UnsupportedError, false}
	case fault.AlreadyExists:
		return treatment{AlreadyExistsError, false}
	case fault.NotEmpty:
		return treatment{NotEmptyError, false}
	case fault.TooLarge:
		return treatment{TooLargeError, false}
	case fault.Unprocessable:
		return treatment{UnprocessableError, false}
	case fault.Conflict:
		return treatment{ConflictError, true}
	case fault.Unavailable:
		return treatment{UnavailableError, true}
	case fault.UnknownState:
		return treatment{UnknownStateError, true}
	}
	return treatment{InternalError, true}
}

// CodeOf is the inverse of treatmentOf: the code that an error of a type was made of; Internal for types of others.
func CodeOf(t ErrorType) fault.Code {
	for _, code := range [...]fault.Code{
		fault.Invalid, fault.Unauthenticated, fault.Forbidden, fault.NotFound, fault.Unsupported, fault.AlreadyExists, fault.NotEmpty,
		fault.TooLarge, fault.Unprocessable, fault.Conflict, fault.Unavailable, fault.UnknownState,
	} {
		if treatmentOf(code).Type == t {
			return code
		}
	}
	return fault.Internal
}

// permanent tells whether an error stays however often the call is repeated.
func permanent(err error) bool { return err != nil && !treatmentOf(fault.CodeOf(err)).Retryable }

// toTemporal converts an error at the boundary of an activity, once: Temporal looks at the outermost type only, and
// wrapping a non-retryable error would make it retryable again. Histories get the public sentence; the cause goes
// to the log, because it may hold what must not be stored.
func toTemporal(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return context.Canceled // the SDK tells a cancelled activity by it
	}
	t := treatmentOf(fault.CodeOf(err))
	activity.GetLogger(ctx).Warn("activity failed", "type", t.Type, "retryable", t.Retryable, "error", err)
	return temporal.NewApplicationErrorWithOptions(publicMessage(err), string(t.Type),
		temporal.ApplicationErrorOptions{NonRetryable: !t.Retryable})
}

// publicMessage is for histories, whose readers are operators: they have the worker's log, not a request id.
func publicMessage(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}
	return "An internal error occurred. The worker's log has its cause."
}
