package gcs

import (
	"context"
	"errors"
	"net/http"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// status gives the status of the store's answer, 0 when there was none.
func status(err error) int {
	if resp, ok := errors.AsType[*googleapi.Error](err); ok {
		return resp.Code
	}
	return 0
}

// conditionFailed tells whether an object is there already, or is another one than the one that was opened.
func conditionFailed(err error) bool { return status(err) == http.StatusPreconditionFailed }

// storeFault says what went wrong; the store's own words stay in the cause.
func storeFault(ctx context.Context, loc objects.Location, err error) error {
	switch {
	case ctx.Err() != nil:
		return objects.Stopped(ctx, loc)
	case errors.Is(err, errSignIn):
		return fault.Wrap(err, fault.Unavailable, "Sluice could not sign in to Google Cloud to reach %s. Check the service account's key, or the identity of this machine.", loc)
	case errors.Is(err, storage.ErrBucketNotExist):
		return noBucket(loc, err)
	case errors.Is(err, storage.ErrObjectNotExist):
		return objects.Missing(loc, err)
	}
	switch status(err) {
	case http.StatusNotFound:
		return objects.Missing(loc, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Wrap(err, fault.Unavailable, "Google Cloud Storage refused Sluice access to %s. Check the roles of its service account on the bucket (Storage Object User), and that billing is on.", loc)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fault.Wrap(err, fault.Unavailable, "Google Cloud Storage is busy. Try again later.")
	case 0:
		return fault.Wrap(err, fault.Unavailable, "Google Cloud Storage of %s could not be reached. Check its endpoint and the network, and try again.", loc)
	}
	return fault.Wrap(err, fault.Unavailable, "Google Cloud Storage did not do what was asked for %s. Try again, and look at the log if this stays.", loc)
}

func noBucket(loc objects.Location, err error) error {
	return fault.Wrap(err, fault.Unavailable, "Bucket %q does not exist in Google Cloud Storage. Create it, or correct the storage root.", loc.Bucket())
}
