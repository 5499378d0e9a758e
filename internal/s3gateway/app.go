package s3gateway

import (
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3api/utils"
	"github.com/versity/versitygw/s3err"

	"github.com/sluice-data/sluice/internal/s3gateway/folder"
)

const (
	// maxRequests bounds the requests that are answered at the same time; more are told to slow down.
	maxRequests = 1024
	// maxHeader bounds request line and headers, in bytes: a presigned URL carries a session token with its policy.
	maxHeader = 16 << 10
	// maxDocument bounds the bodies that are read into memory, in bytes: lists of keys or parts, in XML.
	maxDocument = 8 << 20
)

// newApp makes the HTTP side: what every request passes, and the operations.
func newApp(o Options, files *folder.Backend, v *vault) *fiber.App {
	app := fiber.New(fiber.Config{
		ServerHeader:      "Sluice",
		CaseSensitive:     true,
		StreamRequestBody: true, // objects never lie in memory; maxDocument bounds the rest
		Concurrency:       maxConnections,
		ReadBufferSize:    maxHeader,
		ErrorHandler:      func(c fiber.Ctx, err error) error { return answer(c, o.Logger, err) },
	})
	app.Use(logged(o.Logger))
	app.Use(recover.New())
	app.Use(middlewares.DrainRequestBody())
	app.Use(middlewares.RequestIDs())
	app.Use(middlewares.RateLimiter(maxRequests, nil, nil))
	app.Use(guard)
	app.Post("/", newSTS(o, v).serve)
	app.Use(middlewares.SetDefaultValues(middlewares.RootUserConfig{Access: o.RootKey, Secret: o.RootSecret}, o.Region))
	newRoutes(o, files, newSessions(o, v)).register(app)
	return app
}

// guard decodes the path, once, and refuses what must not get further: paths that do not mean themselves, and bodies
// without a stated length or too long to be read into memory.
func guard(c fiber.Ctx) error {
	path, err := url.PathUnescape(string(c.Request().URI().PathOriginal()))
	if err != nil {
		return s3err.GetAPIError(s3err.ErrInvalidURI)
	}
	_, key := splitPath(path)
	if key != "" {
		if err := folder.CheckKey(key); err != nil {
			return err
		}
	}
	length := c.Request().Header.ContentLength()
	isObject := c.Method() == fiber.MethodPut && key != "" && c.Get("X-Amz-Copy-Source") == ""
	if length == -1 { // chunked
		c.Response().Header.SetConnectionClose() // what is left of it must not be taken for the next request
		if !isObject || c.Get("X-Amz-Decoded-Content-Length") == "" {
			return s3err.GetAPIError(s3err.ErrMissingContentLength)
		}
	}
	if !isObject && length > maxDocument {
		return s3err.GetEntityTooLargeErr(int64(length), maxDocument)
	}
	c.Path(path)
	return c.Next()
}

// logged logs each request when it has been answered. Queries carry signatures and session tokens: they are left out.
func logged(log *slog.Logger) fiber.Handler {
	return func(c fiber.Ctx) error {
		began := time.Now()
		err := c.Next()
		if err != nil {
			err = answer(c, log, err)
		}
		log.Debug("S3 request", "method", c.Method(), "path", string(c.Request().URI().PathOriginal()),
			"status", c.Response().StatusCode(), "took", time.Since(began), "client", c.IP())
		return err
	}
}

// answer gives an error the form that S3 clients read.
func answer(c fiber.Ctx, log *slog.Logger, err error) error {
	var known s3err.S3Error
	var refused *fiber.Error
	switch {
	case errors.As(err, &known):
	case errors.As(err, &refused) && errors.Is(refused, fiber.ErrRequestHeaderFieldsTooLarge):
		known = s3err.GetRequestHeaderSectionTooLargeErr(maxHeader)
	case errors.As(err, &refused) && refused.Code < fiber.StatusInternalServerError:
		known = s3err.GetAPIError(s3err.ErrCannotParseHTTPRequest)
	default:
		log.Error("The S3 endpoint could not answer a request.", "error", err)
		known = s3err.GetAPIError(s3err.ErrInternalError)
	}
	requestID, hostID := utils.EnsureRequestIDs(c)
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationXML)
	return c.Status(known.StatusCode()).Send(known.XMLBody(requestID, hostID))
}
