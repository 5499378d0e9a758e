package catalog

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Storage opens tables' files for engines.
type Storage interface {
	TableCredentials(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) ([]core.StorageCredential, error)
	// SignRequest signs a request to the object store: for the table's files, or without a table for what its URI names.
	// It is fault.Unsupported in a catalog that does not sign.
	SignRequest(ctx context.Context, caller policy.Caller, cat models.Catalog, ident *models.TableIdent, in core.SignInput) (core.SignedRequest, error)
}

// legacySign is where clients up to 1.10 ask for signatures unless they are told where else.
const legacySign = "/aws/s3/sign"

func (h *Handler) storageRoutes() []route {
	return []route{{http.MethodGet, "/namespaces/{namespace}/tables/{table}/credentials", h.tableCredentials}}
}

// unlistedRoutes are served and not offered in the configuration: no store signs yet, and engines that were told of the
// route would use it.
func (h *Handler) unlistedRoutes() []route {
	return []route{{http.MethodPost, "/namespaces/{namespace}/tables/{table}/sign", h.signForTable}}
}

type credentialsAnswer struct {
	Credentials []credentialAnswer `json:"storage-credentials"`
}

type credentialAnswer struct {
	Prefix string            `json:"prefix"`
	Config map[string]string `json:"config"`
}

func (h *Handler) tableCredentials(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	list, err := h.Storage.TableCredentials(s.ctx, s.caller, s.cat, ident)
	if err != nil {
		return err
	}
	answer := credentialsAnswer{Credentials: make([]credentialAnswer, 0, len(list))}
	for _, cred := range list {
		answer.Credentials = append(answer.Credentials, credentialAnswer(cred))
	}
	c.Header("Cache-Control", "no-store")
	return wire.JSON(c, http.StatusOK, answer)
}

type signAnswer struct {
	URI     string              `json:"uri"`
	Headers map[string][]string `json:"headers"`
}

func (h *Handler) signForTable(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	return h.sign(c, s, &ident)
}

// signLegacy is for the object that the request's URI names, of whichever table.
func (h *Handler) signLegacy(c *gin.Context, s scope) error { return h.sign(c, s, nil) }

func (h *Handler) sign(c *gin.Context, s scope, ident *models.TableIdent) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	in := core.SignInput{
		Provider:   body.OptionalString("provider"),
		Region:     body.String("region"),
		Method:     body.String("method"),
		URI:        body.String("uri"),
		Headers:    make(map[string][]string),
		Properties: body.OptionalStringMap("properties"),
		Body:       body.OptionalString("body"),
	}
	headers := body.Nested("headers")
	for _, name := range headers.Names() {
		in.Headers[name] = headers.OptionalStrings(name)
	}
	if err := body.Err(); err != nil {
		return err
	}
	signed, err := h.Storage.SignRequest(s.ctx, s.caller, s.cat, ident, in)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "private")
	return wire.JSON(c, http.StatusOK, signAnswer(signed))
}
