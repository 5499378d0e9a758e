package s3gateway

import (
	"strings"

	"github.com/gofiber/fiber/v3"
	"github.com/versity/versitygw/s3api/controllers"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3err"

	"github.com/sluice-data/sluice/internal/s3gateway/folder"
)

// maxParts is how many parts an upload may have, as in S3.
const maxParts = 10_000

// bodyKind says what a request brings and how it is verified.
type bodyKind int

const (
	noBody       bodyKind = iota // nothing, or a small document without a checksum of its own
	headBody                     // nothing, and HEAD requests need not say so
	documentBody                 // a document that must be there, verified before it is read
	objectBody                   // the content of an object, verified while it is stored
)

// routes are the operations that are offered. Whatever else S3 has answers NotImplemented.
type routes struct {
	bucket map[string]fiber.Handler // by method and what the query asks for
	object map[string]fiber.Handler
	// subresources are the query parameters that make another operation of a request. A request with one that is not
	// in the tables is not taken for the plain operation.
	subresources []string
}

// newRoutes puts authentication before each operation. The operations themselves authorise, with the sessions.
func newRoutes(o Options, files *folder.Backend, sessions *sessions) *routes {
	s3 := controllers.New(files, sessions, nil, nil, nil, false, true, "", maxParts)
	root := middlewares.RootUserConfig{Access: o.RootKey, Secret: o.RootSecret}
	operation := func(run controllers.Controller, body bodyKind, last ...fiber.Handler) fiber.Handler {
		streams := body == objectBody
		steps := []fiber.Handler{
			middlewares.VerifyPresignedV4Signature(root, sessions, o.Region, streams),
			middlewares.VerifyV4Signature(root, sessions, o.Region, streams, body != headBody, true),
		}
		if streams || body == documentBody {
			steps = append(steps, middlewares.VerifyChecksums(streams, body == documentBody, false))
		}
		return controllers.ProcessHandlers(run, "", &controllers.Services{}, append(steps, last...)...)
	}
	acl := middlewares.ParseAcl(files)
	return &routes{
		bucket: map[string]fiber.Handler{
			"GET /":           operation(s3.ListBuckets, noBody),
			"HEAD":            operation(s3.HeadBucket, headBody, acl),
			"GET":             operation(s3.ListObjects, noBody, acl),
			"GET list-type":   operation(s3.ListObjectsV2, noBody, acl),
			"GET location":    operation(s3.GetBucketLocation, noBody, acl),
			"GET versioning":  operation(s3.GetBucketVersioning, noBody, acl),
			"GET uploads":     operation(s3.ListMultipartUploads, noBody, acl),
			"POST delete":     operation(s3.DeleteObjects, documentBody, acl),
			"GET object-lock": operation(s3.GetObjectLockConfiguration, noBody, acl),
		},
		object: map[string]fiber.Handler{
			"HEAD":                operation(s3.HeadObject, headBody, acl),
			"GET":                 operation(s3.GetObject, noBody, acl),
			"GET uploadId":        operation(s3.ListParts, noBody, acl),
			"PUT":                 operation(s3.PutObject, objectBody, acl),
			"PUT copy":            operation(s3.CopyObject, noBody, acl),
			"PUT uploadId":        operation(s3.UploadPart, objectBody, acl),
			"PUT uploadId copy":   operation(s3.UploadPartCopy, noBody, acl),
			"POST uploads":        operation(s3.CreateMultipartUpload, noBody, acl),
			"POST uploadId":       operation(s3.CompleteMultipartUpload, noBody, acl),
			"DELETE":              operation(s3.DeleteObject, noBody, acl),
			"DELETE uploadId":     operation(s3.AbortMultipartUpload, noBody, acl),
			"PUT partNumber":      invalid,
			"PUT copy partNumber": invalid,
		},
		subresources: []string{
			"list-type", "location", "versioning", "uploads", "uploadId", "delete", "object-lock",
			"accelerate", "acl", "analytics", "attributes", "cors", "encryption", "intelligent-tiering", "inventory",
			"legal-hold", "lifecycle", "logging", "metrics", "notification", "ownershipControls", "policy", "policyStatus",
			"publicAccessBlock", "replication", "requestPayment", "restore", "retention", "select", "session", "tagging",
			"torrent", "versions", "website",
		},
	}
}

func (r *routes) register(app *fiber.App) {
	app.All("/", r.serve)
	app.All("/:bucket", r.serve)
	app.All("/:bucket/*", r.serve)
}

// serve finds the operation of a request.
func (r *routes) serve(c fiber.Ctx) error {
	bucket, key := splitPath(c.Path())
	name := c.Method()
	query := c.Request().URI().QueryArgs()
	for _, sub := range r.subresources {
		if query.Has(sub) {
			name += " " + sub
		}
	}
	table := r.bucket
	switch {
	case bucket == "":
		name += " /"
	case key != "":
		table = r.object
		if c.Get("X-Amz-Copy-Source") != "" {
			name += " copy"
		}
		if query.Has("partNumber") && !query.Has("uploadId") && c.Method() == fiber.MethodPut {
			name += " partNumber"
		}
	}
	handle, offered := table[name]
	if !offered {
		return s3err.GetAPIError(s3err.ErrNotImplemented)
	}
	return handle(c)
}

// splitPath takes bucket and key out of a decoded path.
func splitPath(path string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return bucket, key
}

func invalid(fiber.Ctx) error { return s3err.GetAPIError(s3err.ErrInvalidRequest) }
