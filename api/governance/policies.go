package governance

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
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
	ref, err := namespaceRef(c)
	if err != nil {
		return err
	}
	return h.setDefaultPolicy(c, ref)
}

func (h *Handler) setCatalogPolicy(c *gin.Context) error {
	ref, err := catalogRef(c)
	if err != nil {
		return err
	}
	return h.setDefaultPolicy(c, ref)
}

func (h *Handler) showNamespacePolicy(c *gin.Context) error {
	ref, err := namespaceRef(c)
	if err != nil {
		return err
	}
	return h.showDefaultPolicy(c, ref)
}

func (h *Handler) showCatalogPolicy(c *gin.Context) error {
	ref, err := catalogRef(c)
	if err != nil {
		return err
	}
	return h.showDefaultPolicy(c, ref)
}

// refSeparators are what joins a catalog and the levels of a namespace.
const refSeparators = ".\x1f"

func namespaceRef(c *gin.Context) (string, error) {
	ref := c.Param("ref")
	if !strings.ContainsAny(ref, refSeparators) {
		return "", fault.New(fault.Invalid, "Name the namespace as catalog.namespace; for a catalog use catalogs/%s/default-write-policy.", ref)
	}
	return ref, nil
}

func catalogRef(c *gin.Context) (string, error) {
	ref := c.Param("ref")
	if strings.ContainsAny(ref, refSeparators) {
		return "", fault.New(fault.Invalid, "%q is not a catalog's name; for a namespace use namespaces/%s/default-write-policy.", ref, ref)
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

// setClassification changes what the body names; what it leaves out stays as it is.
func (h *Handler) setClassification(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("level", "identityColumns", "columns")
	in := core.GovernanceInput{
		Level:           readLevel(body, "level"),
		IdentityColumns: body.OptionalStrings("identityColumns"),
	}
	if body.Has("columns") {
		in.Columns = make(map[string]models.ColumnGovernance)
		for name, column := range body.Map("columns") {
			in.Columns[name] = readColumn(column)
		}
	}
	if err := body.Err(); err != nil {
		return err
	}
	if in.Level == "" && in.IdentityColumns == nil && in.Columns == nil {
		return fault.New(fault.Invalid, "The body changes nothing. Give level, identityColumns or columns.")
	}
	state, err := h.Policies.SetGovernance(c.Request.Context(), wire.Caller(c), c.Param("ref"), in)
	return h.answerTable(c, state, err)
}

// maxTag is the longest tag of a column, in characters.
const maxTag = 256

func readColumn(column *wire.Fields) models.ColumnGovernance {
	column.Only("sensitivity", "tag", "mask")
	mask, err := models.ParseMask(column.OptionalString("mask"))
	if err != nil {
		column.Fail("mask", "is wrong: %s", err)
	}
	return models.ColumnGovernance{Sensitivity: readLevel(column, "sensitivity"), Tag: column.Text("tag", maxTag), Mask: mask}
}

// readLevel reads an optional level.
func readLevel(f *wire.Fields, field string) models.Classification {
	name := f.OptionalString(field)
	if name == "" {
		return ""
	}
	level, err := models.ParseClassification(name)
	if err != nil {
		f.Fail(field, "is wrong: %s", err)
	}
	return level
}
