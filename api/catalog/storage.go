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

// Storage opens tables' files for engines. Each method checks the caller's rights itself.
type Storage interface {
	// UseLoaded, UseMade and UsePlanned say how the caller reaches the files of a table that it loads, has made or staged,
	// and has a plan for; OpenStorage gives what it needs for that.
	UseLoaded(ctx context.Context, caller policy.Caller, cat models.Catalog, view core.TableView, asked []core.Delegation) (core.StorageUse, error)
	UseMade(ctx context.Context, caller policy.Caller, cat models.Catalog, view core.TableView, asked []core.Delegation) (core.StorageUse, error)
	UsePlanned(ctx context.Context, caller policy.Caller, cat models.Catalog, view core.TableView, asked []core.Delegation) (core.StorageUse, error)
	OpenStorage(ctx context.Context, use core.StorageUse, at core.StorageRoutes) (core.StorageOpening, error)
	TableCredentials(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, at core.StorageRoutes) ([]core.StorageCredential, error)
	// SignRequest signs a request to the object store for the table's files, SignAnywhere one for what its URI names, in the
	// catalog of the name or with "" in any. They are fault.Unsupported where nothing is signed.
	SignRequest(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, in core.SignInput) (core.SignedRequest, error)
	SignAnywhere(ctx context.Context, caller policy.Caller, catalog string, in core.SignInput) (core.SignedRequest, error)
	// Signs tells whether the catalog signs requests.
	Signs(ctx context.Context, cat models.Catalog) bool
}

const (
	// legacySign is where clients up to 1.10 ask for signatures unless they are told where else.
	legacySign = "/aws/s3/sign"
	// neverStored keeps an answer with keys in it out of every cache.
	neverStored = "no-store"
)

func (h *Handler) storageRoutes() []route {
	return []route{{http.MethodGet, "/namespaces/{namespace}/tables/{table}/credentials", h.tableCredentials}}
}

// signRoutes are served everywhere, and offered in the configuration of a catalog whose store can sign.
func (h *Handler) signRoutes() []route {
	return []route{{http.MethodPost, "/namespaces/{namespace}/tables/{table}/sign", h.signForTable}}
}

// mountLegacySign serves the route that names no table, and that may name no catalog.
func (h *Handler) mountLegacySign(known gin.IRouter) {
	known.POST(legacySign, wire.Handle(h.signLegacy))
	known.POST("/:prefix"+legacySign, wire.DecodePath, wire.Handle(h.signLegacy))
}

type credentialsAnswer struct {
	Credentials []credentialAnswer `json:"storage-credentials"`
}

type credentialAnswer struct {
	Prefix string            `json:"prefix"`
	Config map[string]string `json:"config"`
}

func credentialAnswers(list []core.StorageCredential) []credentialAnswer {
	out := make([]credentialAnswer, len(list))
	for i, c := range list {
		out[i] = credentialAnswer(c)
	}
	return out
}

func (h *Handler) tableCredentials(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	list, err := h.Storage.TableCredentials(s.ctx, s.caller, s.cat, ident, h.routesOf(c, s, ident))
	if err != nil {
		return err
	}
	c.Header("Cache-Control", neverStored)
	return wire.JSON(c, http.StatusOK, credentialsAnswer{Credentials: credentialAnswers(list)})
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
	in, err := signInput(c)
	if err != nil {
		return err
	}
	signed, err := h.Storage.SignRequest(s.ctx, s.caller, s.cat, ident, in)
	return answerSigned(c, signed, err)
}

// signLegacy is for the object that the request's URI names, of whichever table.
func (h *Handler) signLegacy(c *gin.Context) error {
	in, err := signInput(c)
	if err != nil {
		return err
	}
	prefix := c.Param("prefix")
	wire.SetCatalog(c, prefix)
	signed, err := h.Storage.SignAnywhere(c.Request.Context(), wire.Caller(c), prefix, in)
	return answerSigned(c, signed, err)
}

func signInput(c *gin.Context) (core.SignInput, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return core.SignInput{}, err
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
	return in, body.Err()
}

// answerSigned lets a client keep the signature of a read for as long as that is good, and no other.
func answerSigned(c *gin.Context, signed core.SignedRequest, err error) error {
	if err != nil {
		return err
	}
	kept := neverStored
	if signed.Cacheable {
		kept = "private"
	}
	c.Header("Cache-Control", kept)
	return wire.JSON(c, http.StatusOK, signAnswer{URI: signed.URI, Headers: signed.Headers})
}
