package azure

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// Codes of accounts with a hierarchical namespace, which the SDK does not name.
const (
	directoryIsNotEmpty  bloberror.Code = "DirectoryIsNotEmpty"
	filesystemNotFound   bloberror.Code = "FilesystemNotFound"
	pathNotFound         bloberror.Code = "PathNotFound"
	pathAlreadyExists    bloberror.Code = "PathAlreadyExists"
	folderMetadata                      = "hdi_isfolder" // marks what stands for a folder
	resourceTypeOfFolder                = "directory"
)

// answer gives the status and code of Azure's answer, 0 and "" when there was none.
func answer(err error) (status int, code bloberror.Code) {
	if resp, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return resp.StatusCode, bloberror.Code(resp.ErrorCode)
	}
	return 0, ""
}

// isTaken tells whether a creation met an object.
func isTaken(err error) bool {
	status, code := answer(err)
	return status == http.StatusPreconditionFailed || code == bloberror.BlobAlreadyExists || code == pathAlreadyExists
}

// isReplaced tells whether an object is another one than the one that was opened.
func isReplaced(err error) bool {
	status, _ := answer(err)
	return status == http.StatusPreconditionFailed
}

// isFolder tells whether an object stands for a folder.
func isFolder(metadata map[string]*string) bool {
	for name, value := range metadata {
		if strings.EqualFold(name, folderMetadata) && value != nil && strings.EqualFold(*value, "true") {
			return true
		}
	}
	return false
}

// storeFault says what went wrong; Azure's own words stay in the cause.
func storeFault(ctx context.Context, loc objects.Location, err error) error {
	if ctx.Err() != nil {
		return objects.Stopped(ctx, loc)
	}
	if signInFailed(err) {
		return fault.Wrap(err, fault.Unavailable, "Sluice could not sign in to Azure to reach %s. Check the tenant, client id and secret of the storage, or the identity of this machine.", loc)
	}
	status, code := answer(err)
	switch {
	case code == bloberror.ContainerNotFound || code == filesystemNotFound:
		return fault.Wrap(err, fault.Unavailable, "Container %q does not exist in the Azure storage account. Create it, or correct the storage root.", loc.Container())
	case code == pathNotFound || status == http.StatusNotFound || code == bloberror.ResourceTypeMismatch && loc.Key() != "":
		return objects.Missing(loc, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.Wrap(err, fault.Unavailable, "Azure refused Sluice access to %s. Check its storage key or role (Storage Blob Data Contributor), the account's firewall, and the clock of this machine.", loc)
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return fault.Wrap(err, fault.Unavailable, "Azure storage is busy. Try again later.")
	case status == http.StatusConflict:
		return fault.Wrap(err, fault.Unavailable, "Azure has a conflict at %s: another write is under way, the object is protected, or an object is where a folder must be. Try again, or choose another location.", loc)
	case status == 0:
		return fault.Wrap(err, fault.Unavailable, "Azure storage of %s could not be reached. Check the account's name, its endpoint and the network, and try again.", loc)
	}
	return fault.Wrap(err, fault.Unavailable, "Azure did not do what was asked for %s. Try again, and look at the log if this stays.", loc)
}

// signInFailed tells whether no token could be had.
func signInFailed(err error) bool {
	_, refused := errors.AsType[*azidentity.AuthenticationFailedError](err)
	_, needed := errors.AsType[*azidentity.AuthenticationRequiredError](err)
	return refused || needed || strings.Contains(err.Error(), "failed to acquire a token")
}
