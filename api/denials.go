package api

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/api/management"
	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
)

// recordWithin bounds how long it may take to get a refusal or a failure into the audit: its client waits for it.
const recordWithin = 5 * time.Second

// recordAnswers writes refusals, and failures of what would have changed something, into the audit before the client hears
// of them, also when the client is gone. What cannot be written is logged, and the request is answered all the same.
// separator is that of namespace levels besides the unit separator.
func recordAnswers(to Denials, log *slog.Logger, separator string) gin.HandlerFunc {
	if to == nil {
		return func(*gin.Context) {}
	}
	r := recorder{to, log, separator}
	return func(c *gin.Context) {
		returned := false
		defer func() {
			if !returned { // the handler panics: it goes on as it is
				r.record(c, errPanicked)
			}
		}()
		c.Next()
		returned = true
		if last := c.Errors.Last(); last != nil {
			r.record(c, last.Err)
		}
	}
}

// errPanicked stands for what a handler panics with.
var errPanicked = errors.New("the handler panicked")

type recorder struct {
	to        Denials
	log       *slog.Logger
	separator string
}

func (r recorder) record(c *gin.Context, err error) {
	answered := answerFor(err)
	reason, denied := denialOf(c, err)
	if !denied && !isFailure(c, err, answered.status) {
		return
	}
	request := access.Denial{Method: c.Request.Method, Route: routeOf(c), Path: loggedPath(c), Status: answered.status, Reason: reason}
	request.Catalog, request.Namespace, request.Table = namesOf(c, r.separator)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), recordWithin)
	defer cancel()
	what := "refusal"
	if denied {
		err = r.to.RecordDenial(ctx, wire.Caller(c), request)
	} else {
		what, request.Reason = "failure", wire.Scrubbed(answered.message)
		err = r.to.RecordFailure(ctx, wire.Caller(c), access.Failure{Denial: request, Error: answered.kind})
	}
	if err != nil {
		r.log.ErrorContext(ctx, "a "+what+" is not in the audit",
			"requestId", requestID(c), "route", request.Route, "status", request.Status, "reason", request.Reason, "error", loggedError(err))
	}
}

// denialOf tells whether the error refuses something that the audit does not have yet, and gives the true reason.
func denialOf(c *gin.Context, err error) (reason string, ok bool) {
	hidden, audited := hiddenIn(err)
	switch code := fault.CodeOf(err); {
	case audited:
		return "", false
	case hidden != "":
		return wire.Scrubbed(hidden), true
	case code == fault.Forbidden, code == fault.Unauthenticated && wire.Caller(c).TokenID != "":
		return wire.Scrubbed(fault.PublicMessage(err)), true
	}
	return "", false
}

// hiddenIn looks for what an error, or one that it wraps, does not tell its client.
func hiddenIn(err error) (denied string, audited bool) {
	for {
		e, ok := errors.AsType[*fault.Error](err)
		if !ok {
			return denied, audited
		}
		if denied == "" {
			denied = e.Denied
		}
		audited = audited || e.Audited
		err = e.Cause
	}
}

// namesOf gives the names in the request's path, without secrets that were put in their place: of a catalog, of a
// namespace with dots, of a table or view with it.
func namesOf(c *gin.Context, separator string) (catalog, namespace, table string) {
	catalog, namespace, table = pathNames(c, separator)
	return wire.Scrubbed(catalog), wire.Scrubbed(namespace), wire.Scrubbed(table)
}

func pathNames(c *gin.Context, separator string) (catalog, namespace, table string) {
	if ref := wire.Param(c, "ref"); ref != "" {
		return namesOfRef(c.FullPath(), ref)
	}
	catalog = wire.Catalog(c)
	for _, name := range []string{"prefix", management.CatalogParam} {
		if catalog == "" {
			catalog = wire.Param(c, name)
		}
	}
	namespace = dotted(wire.Param(c, "namespace"), separator)
	table = wire.Param(c, "table")
	if table == "" {
		table = wire.Param(c, "view")
	}
	if table != "" {
		table = namespace + "." + table
	}
	return catalog, namespace, table
}

// namesOfRef splits what the governance API calls a ref, which is a table's UUID or names joined by dots.
func namesOfRef(route, ref string) (catalog, namespace, table string) {
	if uuid.Validate(ref) == nil {
		return "", "", ""
	}
	names := strings.Split(dotted(ref, ""), ".")
	catalog = names[0]
	switch rest := names[1:]; {
	case strings.Contains(route, "/tables/") && len(rest) > 1:
		return catalog, strings.Join(rest[:len(rest)-1], "."), strings.Join(rest, ".")
	case strings.Contains(route, "/namespaces/"):
		return catalog, strings.Join(rest, "."), ""
	}
	return catalog, "", ""
}

// dotted joins levels by dots that came joined by the unit separator or, without one, by another.
func dotted(levels, separator string) string {
	const unit = "\x1f"
	if separator == "" || strings.Contains(levels, unit) {
		separator = unit
	}
	return strings.Join(slices.DeleteFunc(strings.Split(levels, separator), func(l string) bool { return l == "" }), ".")
}
