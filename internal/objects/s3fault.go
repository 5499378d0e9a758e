package objects

import (
	"context"
	"errors"
	"net/http"

	"github.com/minio/minio-go/v7"

	"github.com/sluice-data/sluice/internal/fault"
)

// Codes of S3 that mean more than their status does.
const (
	codeNoSuchBucket    = "NoSuchBucket"
	codeNotDecidedYet   = "ConditionalRequestConflict"
	codeOperationAborts = "OperationAborted"
	codeClockSkew       = "RequestTimeTooSkewed"
	codeInvalidRegion   = "InvalidRegion"
	codeWrongRegion     = "AuthorizationHeaderMalformed"
)

// answer gives the store's own error, zero when the store did not answer.
func answer(err error) minio.ErrorResponse {
	resp, _ := errors.AsType[minio.ErrorResponse](err)
	return resp
}

// conditionFailed tells whether If-Match or If-None-Match did not hold.
func conditionFailed(err error) bool {
	return answer(err).StatusCode == http.StatusPreconditionFailed
}

// undecided tells whether a conditional PUT met another one whose outcome the store does not know yet.
func undecided(err error) bool {
	resp := answer(err)
	return resp.StatusCode == http.StatusConflict && (resp.Code == codeNotDecidedYet || resp.Code == codeOperationAborts)
}

// s3Fault says what went wrong; the store's own words stay in the cause.
func s3Fault(ctx context.Context, loc Location, err error) error {
	if ctx.Err() != nil {
		return Stopped(ctx, loc)
	}
	if role, ok := errors.AsType[*roleError](err); ok {
		return fault.Wrap(err, fault.Unavailable, "Sluice cannot take on the role %s, by which %s is reached. Check the role, who may take it on, and the token service's address.", role.role, loc)
	}
	resp := answer(err)
	switch resp.Code {
	case codeNoSuchBucket:
		return fault.Wrap(err, fault.Unavailable, "Bucket %q does not exist in the object store. Create it, or correct the storage root.", loc.Bucket())
	case codeClockSkew:
		return fault.Wrap(err, fault.Unavailable, "The clocks of this machine and the object store differ too much. Set them right and try again.")
	case codeInvalidRegion, codeWrongRegion:
		return fault.Wrap(err, fault.Unavailable, "Bucket %q is not in the configured region. Correct the region of the object store.", loc.Bucket())
	}
	switch resp.StatusCode {
	case http.StatusNotFound:
		return Missing(loc, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Wrap(err, fault.Unavailable, "The object store refused Sluice access to %s. Check its storage credentials and their policy.", loc)
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect:
		return fault.Wrap(err, fault.Unavailable, "Bucket %q is not in the configured region. Correct the region of the object store.", loc.Bucket())
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fault.Wrap(err, fault.Unavailable, "The object store is busy. Try again later.")
	case http.StatusNotImplemented:
		return fault.Wrap(err, fault.Unavailable, "The object store lacks an operation that Sluice needs for %s, such as conditional writes (If-None-Match). Use one that has it.", loc)
	case http.StatusInsufficientStorage:
		return fault.Wrap(err, fault.Unavailable, "The object store is full. Free space in it and try again.")
	case http.StatusConflict:
		return fault.Wrap(err, fault.Unavailable, "The object store has a conflict at %s: another write is under way, or an object is where a folder must be. Try again, or choose another location.", loc)
	case 0:
		return fault.Wrap(err, fault.Unavailable, "The object store of %s could not be reached. Check its endpoint and the network, and try again.", loc)
	}
	return fault.Wrap(err, fault.Unavailable, "The object store did not do what was asked for %s. Try again, and look at the log if this stays.", loc)
}
