// Package objects reads and writes the objects of lakehouses: files of a local folder and objects of S3-compatible
// stores, behind one Store, and the rules by which two locations are the same, one lies in another, or two overlap.
// Its packages azure and gcs have the stores of Azure and Google Cloud, objectstest what every store must do.
//
// Every path to storage goes through a Router, which refuses what is outside the allowed roots before anything is
// opened. Errors are fault.Error: NotFound for a missing object, AlreadyExists for a taken name, Invalid for a
// malformed location, Forbidden for one outside the roots, TooLarge, and Unavailable for everything else: nothing
// that a caller may rely on was done.
//
// Of ours it may import models and internal/fault; beside them minio-go for S3 and iceberg-go's io interfaces.
package objects
