package governance

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

type defaultPolicyAnswer struct {
	Ref       string             `json:"ref"`
	Policy    models.WritePolicy `json:"policy"`
	Inherited bool               `json:"inherited"` // it is that of what the namespace lies in
}

func (h *Handler) setWritePolicy(c *gin.Context) error {
	p, err := readPolicy(c)
	if err != nil {
		return err
	}
	state, err := h.Policies.SetWritePolicy(c.Request.Context(), wire.Caller(c), c.Param("ref"), p)
	return h.answerTable(c, state, err)
}

func (h *Handler) setNamespacePolicy(c *gin.Context) error {
	ref, err := namespaceRef(c, defaultPolicyPath)
	if err != nil {
		return err
	}
	return h.setDefaultPolicy(c, ref)
}

func (h *Handler) setCatalogPolicy(c *gin.Context) error {
	ref, err := catalogRef(c, defaultPolicyPath)
	if err != nil {
		return err
	}
	return h.setDefaultPolicy(c, ref)
}

func (h *Handler) showNamespacePolicy(c *gin.Context) error {
	ref, err := namespaceRef(c, defaultPolicyPath)
	if err != nil {
		return err
	}
	return h.showDefaultPolicy(c, ref)
}

func (h *Handler) showCatalogPolicy(c *gin.Context) error {
	ref, err := catalogRef(c, defaultPolicyPath)
	if err != nil {
		return err
	}
	return h.showDefaultPolicy(c, ref)
}

const defaultPolicyPath = "default-write-policy"

// refSeparators are what joins a catalog and the levels of a namespace.
const refSeparators = ".\x1f"

// namespaceRef gives the namespace that a path names, which ends in what.
func namespaceRef(c *gin.Context, what string) (string, error) {
	ref := c.Param("ref")
	if !strings.ContainsAny(ref, refSeparators) {
		return "", fault.New(fault.Invalid, "Name the namespace as catalog.namespace; for a catalog use catalogs/%s/%s.", ref, what)
	}
	return ref, nil
}

// catalogRef gives the catalog that a path names, which ends in what.
func catalogRef(c *gin.Context, what string) (string, error) {
	ref := c.Param("ref")
	if strings.ContainsAny(ref, refSeparators) {
		return "", fault.New(fault.Invalid, "%q is not a catalog's name; for a namespace use namespaces/%s/%s.", ref, ref, what)
	}
	return ref, nil
}

func (h *Handler) showDefaultPolicy(c *gin.Context, ref string) error {
	p, err := h.Policies.DefaultWritePolicy(c.Request.Context(), wire.Caller(c), ref)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, defaultPolicyAnswer{Ref: ref, Policy: p.Policy, Inherited: p.Inherited})
}

func (h *Handler) setDefaultPolicy(c *gin.Context, ref string) error {
	p, err := readPolicy(c)
	if err != nil {
		return err
	}
	if err := h.Policies.SetDefaultWritePolicy(c.Request.Context(), wire.Caller(c), ref, p); err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, defaultPolicyAnswer{Ref: ref, Policy: p})
}

func readPolicy(c *gin.Context) (models.WritePolicy, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return "", err
	}
	body.Only("policy")
	name := body.String("policy")
	p, err := models.ParseWritePolicy(name)
	if err != nil {
		body.Fail("policy", "is wrong: %s", err)
	}
	return p, body.Err()
}
