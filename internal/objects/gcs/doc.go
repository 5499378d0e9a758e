// Package gcs keeps objects in Google Cloud Storage, and makes keys for engines that open one table's folder: access tokens
// narrowed by a credential access boundary.
//
// Errors are fault.Error, as those of internal/objects. Of ours it may import models, internal/objects and internal/fault;
// beside them Google's storage client and oauth2.
package gcs
