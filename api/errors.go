package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
)

// statusClientClosed is what a request is logged and counted with whose client hung up; nobody reads the answer.
const statusClientClosed = 499

// retryAfterSeconds is sent with Unavailable alone: it promises that nothing was done.
const retryAfterSeconds = "1"

// answer is an error as the client sees it. It is an error itself, for what HTTP refuses before any use case runs.
type answer struct {
	status  int
	kind    string // the Iceberg error type
	message string
	retry   bool          // send Retry-After
	after   time.Duration // what it says; 0 for the usual
	details any           // beside the error, nil for nothing
}

func (a *answer) Error() string { return a.message }

type errorBody struct {
	Error  errorModel `json:"error"`
	Errors any        `json:"errors,omitempty"` // parts of what was sent that are wrong
}

type errorModel struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
}

// answerFor is the one table from errors to answers. A commit in doubt stays in doubt whatever cut it short; then
// cancelled and late requests are told apart, because neither is a fault of the server.
func answerFor(err error) answer {
	if own, ok := errors.AsType[*answer](err); ok {
		return *own
	}
	if own, ok := errors.AsType[*wire.RefusalError](err); ok {
		return answer{status: own.Status, kind: own.Kind, message: own.Message, retry: own.RetryAfter > 0, after: own.RetryAfter}
	}
	code := fault.CodeOf(err)
	switch {
	case code == fault.UnknownState:
	case errors.Is(err, context.Canceled):
		return answer{status: statusClientClosed, kind: "RequestCancelledException", message: "The request was cancelled."}
	case errors.Is(err, context.DeadlineExceeded) && code == fault.Internal:
		return answer{
			status: http.StatusServiceUnavailable, kind: "ServiceUnavailableException",
			message: "The request took longer than the server allows. Look at the current state before you send it again.",
		}
	}
	a := answerForCode(code, subjectOf(err))
	a.message = fault.PublicMessage(err)
	if detailed, ok := errors.AsType[*wire.DetailedError](err); ok {
		a.details = detailed.Details
	}
	return a
}

func answerForCode(code fault.Code, subject fault.Subject) answer {
	switch code {
	case fault.Invalid:
		return answer{status: http.StatusBadRequest, kind: invalidKind(subject)}
	case fault.Unauthenticated:
		return answer{status: http.StatusUnauthorized, kind: "NotAuthorizedException"}
	case fault.Forbidden:
		return answer{status: http.StatusForbidden, kind: "ForbiddenException"}
	case fault.NotFound:
		return answer{status: http.StatusNotFound, kind: notFoundKind(subject)}
	case fault.Unsupported:
		return answer{status: http.StatusNotAcceptable, kind: "UnsupportedOperationException"}
	case fault.AlreadyExists:
		return answer{status: http.StatusConflict, kind: "AlreadyExistsException"}
	case fault.Conflict:
		return answer{status: http.StatusConflict, kind: "CommitFailedException"}
	case fault.NotEmpty:
		return answer{status: http.StatusConflict, kind: notEmptyKind(subject)}
	case fault.TooLarge:
		return answer{status: http.StatusRequestEntityTooLarge, kind: "RequestTooLargeException"}
	case fault.Unprocessable:
		return answer{status: http.StatusUnprocessableEntity, kind: "UnprocessableEntityException"}
	case fault.Unavailable:
		return answer{status: http.StatusServiceUnavailable, kind: "SlowDownException", retry: true}
	case fault.UnknownState:
		return answer{status: http.StatusInternalServerError, kind: "CommitStateUnknownException"}
	}
	return answer{status: http.StatusInternalServerError, kind: "InternalServerError"}
}

// invalidKind: Java's client throws IllegalArgumentException by that name alone.
func invalidKind(subject fault.Subject) string {
	if subject == fault.Argument {
		return "IllegalArgumentException"
	}
	return "BadRequestException"
}

func notEmptyKind(subject fault.Subject) string {
	if subject == fault.Catalog {
		return "WarehouseNotEmptyException"
	}
	return "NamespaceNotEmptyException"
}

// notFoundKind: clients choose their exception by it. NotFoundException means that a metadata file is gone.
func notFoundKind(subject fault.Subject) string {
	switch subject {
	case fault.Catalog:
		return "NoSuchWarehouseException"
	case fault.Namespace:
		return "NoSuchNamespaceException"
	case fault.Table:
		return "NoSuchTableException"
	case fault.View:
		return "NoSuchViewException"
	case fault.Principal:
		return "NoSuchPrincipalException"
	case fault.Token:
		return "NoSuchTokenException"
	case fault.Role:
		return "NoSuchRoleException"
	case fault.GrantRow:
		return "NoSuchGrantException"
	case fault.Plan:
		return "NoSuchPlanIdException"
	case fault.PlanTask:
		return "NoSuchPlanTaskException"
	case fault.Function:
		return "NoSuchFunctionException"
	}
	return "NotFoundException"
}

func subjectOf(err error) fault.Subject {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Subject
	}
	return fault.NoSubject
}

// answerErrors writes the answer of a request whose handler left an error, and logs the cause of a server's fault.
func answerErrors(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Next()
		last := c.Errors.Last()
		if last == nil {
			return
		}
		a := answerFor(last.Err)
		if c.Writer.Written() {
			a.status = c.Writer.Status() // the token endpoint answers in its own shape
		}
		if a.status >= http.StatusInternalServerError {
			log.ErrorContext(c.Request.Context(), "request failed",
				"requestId", requestID(c), "route", routeOf(c), "status", a.status, "error", loggedError(last.Err))
		}
		if !c.Writer.Written() {
			writeAnswer(c, a)
		}
	}
}

// retryAfter gives a time to wait in whole seconds.
func retryAfter(d time.Duration) string {
	if d <= 0 {
		return retryAfterSeconds
	}
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

func writeAnswer(c *gin.Context, a answer) {
	h := c.Writer.Header()
	for _, name := range []string{"ETag", "Content-Encoding", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	if a.status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if a.retry {
		h.Set("Retry-After", retryAfter(a.after))
	}
	var body any = errorBody{Error: errorModel{Message: short(a.message), Type: a.kind, Code: a.status}, Errors: a.details}
	if strings.HasSuffix(c.FullPath(), catalog.TokenPath) {
		body = catalog.TokenRefusal(a.status, short(a.message))
	}
	_ = wire.JSON(c, a.status, body) // both are always encodable
}
