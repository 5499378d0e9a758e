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

// recordWithin bounds how long a refusal may take to get into the audit: its client waits for it.
const recordWithin = 5 * time.Second

// recordDenials writes refusals into the audit before the client hears of them, also when the client is gone. What cannot
// be written is logged, and the request is refused all the same. separator is that of namespace levels besides the unit
// separator.
func recordDenials(to Denials, log *slog.Logger, separator string) gin.HandlerFunc {
	if to == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		c.Next()
		last := c.Errors.Last()
		if last == nil {
			return
		}
		reason, ok := denialOf(c, last.Err)
		if !ok {
			return
		}
		denial := access.Denial{
			Method: c.Request.Method, Route: routeOf(c), Path: loggedPath(c), Status: answerFor(last.Err).status, Reason: reason,
		}
		denial.Catalog, denial.Namespace, denial.Table = namesOf(c, separator)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), recordWithin)
		defer cancel()
		if err := to.RecordDenial(ctx, wire.Caller(c), denial); err != nil {
			log.ErrorContext(ctx, "a refusal is not in the audit",
				"requestId", requestID(c), "route", denial.Route, "status", denial.Status, "reason", wire.Scrubbed(reason), "error", loggedError(err))
		}
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
