// Package fault is the one error type that crosses Sluice's packages: a code a
// machine can branch on, a public sentence that says what to do, and a private
// cause that is logged and never shown. It imports nothing of ours.
package fault

import (
	"errors"
	"fmt"
)

// Code classifies an error for callers. api/errors.go maps it to an HTTP status
// and an Iceberg error type, activities/errors.go to retryability.
type Code string

// The codes, each with the HTTP status its errors are answered with.
const (
	Invalid         Code = "invalid"         // 400: the request is wrong whatever the state
	Unauthenticated Code = "unauthenticated" // 401: who are you
	Forbidden       Code = "forbidden"       // 403: a privilege is missing or a policy forbids it
	NotFound        Code = "not_found"       // 404: absent or invisible
	Unsupported     Code = "unsupported"     // 406: an optional feature that is not offered
	AlreadyExists   Code = "already_exists"  // 409: the name is taken
	Conflict        Code = "conflict"        // 409: retry against the new state
	NotEmpty        Code = "not_empty"       // 409: has children
	TooLarge        Code = "too_large"       // 413: over a stated limit
	Unprocessable   Code = "unprocessable"   // 422: well-formed but contradictory
	Unavailable     Code = "unavailable"     // 503: nothing was done, try again
	UnknownState    Code = "unknown_state"   // 500: the outcome of a commit is not known
	Internal        Code = "internal"        // 500: everything else
)

// Subject names the kind of thing an error is about, where the answer's type depends on it.
type Subject string

// The subjects of NotFound and AlreadyExists errors, and of Invalid ones that clients tell apart.
const (
	NoSubject Subject = ""
	Catalog   Subject = "catalog"
	Namespace Subject = "namespace"
	Table     Subject = "table"
	View      Subject = "view"
	File      Subject = "file"
	Principal Subject = "principal"
	Token     Subject = "token"
	Role      Subject = "role" // a principal role or a catalog role
	GrantRow  Subject = "grant"
	Plan      Subject = "plan"      // of a scan
	PlanTask  Subject = "plan_task" // a part of one
	Function  Subject = "function"
	Argument  Subject = "argument" // Invalid: what the Iceberg library itself calls an illegal argument
)

// Error is the error type of every package. Message is public; Cause and Denied are not.
type Error struct {
	Code    Code
	Subject Subject
	Message string
	Cause   error
	// Denied is the true reason of a refusal that Message must not tell, such as that an object which is said not to
	// exist is not the caller's to see. It is for the audit.
	Denied string
	// Audited: the refusal is in the audit already.
	Audited bool
}

// Error gives the public message and the cause: it is for logs, not for answers.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap gives the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error of the code with a formatted public message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// About makes an error of the code on a subject with a formatted public message.
func About(code Code, subject Subject, format string, args ...any) *Error {
	return &Error{Code: code, Subject: subject, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an error of the code that hides cause behind a formatted public message.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// Conceal makes a NotFound error on a subject that is there and that the caller may not see; why is for the audit.
func Conceal(subject Subject, why, format string, args ...any) *Error {
	e := About(NotFound, subject, format, args...)
	e.Denied = why
	return e
}

// CodeOf gives the code of the outermost *Error in err's chain; Internal for any other error, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Is tells whether err carries the code.
func Is(err error, code Code) bool { return CodeOf(err) == code }

// PublicMessage gives the sentence a client may see; neutral for errors that are not ours.
func PublicMessage(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return "An internal error occurred. Report the request id to the operators."
}
