package management

import (
	"bytes"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

const (
	clearanceField = "clearance"
	disabledField  = "disabled"
)

// principalAnswer is a principal; clearance, disabled and credentialRotationRequired are Sluice's own members.
type principalAnswer struct {
	Name       string            `json:"name"`
	ClientID   string            `json:"clientId,omitempty"`
	Properties map[string]string `json:"properties"`
	stamp
	Clearance        models.Classification `json:"clearance"`
	Disabled         bool                  `json:"disabled"`
	RotationRequired bool                  `json:"credentialRotationRequired,omitempty"`
}

type principalsAnswer struct {
	Principals []principalAnswer `json:"principals"`
}

// credentialsAnswer has what is shown this once.
type credentialsAnswer struct {
	Principal   principalAnswer   `json:"principal"`
	Credentials credentialsValues `json:"credentials"`
}

type credentialsValues struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
}

func principalOf(p models.Principal) principalAnswer {
	return principalAnswer{
		Name: p.Name, ClientID: p.ClientID, Properties: propertiesOf(p.Properties), stamp: stampOf(p.CreatedAt, p.UpdatedAt, p.Version),
		Clearance: p.Clearance, Disabled: p.Disabled, RotationRequired: p.RotationRequired,
	}
}

func answerCredentials(c *gin.Context, status int, p models.Principal, creds management.Credentials) error {
	return wire.JSON(c, status, credentialsAnswer{principalOf(p), credentialsValues(creds)})
}

func (h *Handler) listPrincipals(c *gin.Context) error {
	list, err := h.admin.ListPrincipals(c.Request.Context(), wire.Caller(c))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, principalsAnswer{listOf(list, principalOf)})
}

func (h *Handler) createPrincipal(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	known(body, "principal", "credentialRotationRequired")
	f := body.Nested("principal")
	known(f, append(outputOnly(), nameField, "type", "clientId", propertiesField, clearanceField, disabledField)...)
	in := management.NewPrincipal{
		Name: f.String(nameField), Properties: f.OptionalStringMap(propertiesField), Clearance: readClearance(f),
		RotationRequired: body.Bool("credentialRotationRequired"),
	}
	disabled := f.Bool(disabledField)
	if disabled {
		f.Fail(disabledField, "cannot be set when a principal is made: make it, then disable it")
	}
	if err := body.Err(); err != nil {
		return err
	}
	p, creds, err := h.admin.CreatePrincipal(c.Request.Context(), wire.Caller(c), in)
	if err != nil {
		return err
	}
	return answerCredentials(c, http.StatusCreated, p, creds)
}

// readClearance reads an optional clearance, "" when absent.
func readClearance(f *wire.Fields) models.Classification {
	name := f.OptionalString(clearanceField)
	if name == "" {
		return ""
	}
	level, err := models.ParseClassification(name)
	if err != nil {
		f.Fail(clearanceField, "is wrong: %s", err)
	}
	return level
}

func (h *Handler) getPrincipal(c *gin.Context) error {
	p, err := h.admin.GetPrincipal(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, principalOf(p))
}

func (h *Handler) updatePrincipal(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	known(body, versionField, propertiesField, clearanceField, disabledField)
	in := management.PrincipalChange{Version: body.Int64(versionField), Properties: requiredProperties(body), Clearance: readClearance(body)}
	if body.Has(disabledField) {
		disabled := body.Bool(disabledField)
		in.Disabled = &disabled
	}
	if err := body.Err(); err != nil {
		return err
	}
	p, err := h.admin.UpdatePrincipal(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam), in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, principalOf(p))
}

func (h *Handler) deletePrincipal(c *gin.Context) error {
	if err := h.admin.DeletePrincipal(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam)); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) rotateCredentials(c *gin.Context) error {
	p, creds, err := h.admin.RotateCredentials(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam))
	if err != nil {
		return err
	}
	return answerCredentials(c, http.StatusOK, p, creds)
}

// resetCredentials takes a body or none.
func (h *Handler) resetCredentials(c *gin.Context) error {
	in, err := wantedCredentials(c)
	if err != nil {
		return err
	}
	p, creds, err := h.admin.ResetCredentials(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam), in)
	if err != nil {
		return err
	}
	return answerCredentials(c, http.StatusOK, p, creds)
}

func wantedCredentials(c *gin.Context) (management.Credentials, error) {
	raw, err := wire.PeekBody(c)
	if err != nil {
		return management.Credentials{}, err
	}
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return management.Credentials{}, nil
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return management.Credentials{}, err
	}
	known(body, "clientId", "clientSecret")
	return management.Credentials{ClientID: body.OptionalString("clientId"), ClientSecret: body.OptionalString("clientSecret")}, body.Err()
}

func (h *Handler) rolesOfPrincipal(c *gin.Context) error {
	list, err := h.admin.PrincipalRolesOf(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, rolesAnswer{listOf(list, principalRoleOf)})
}

func (h *Handler) assignPrincipalRole(c *gin.Context) error {
	role, err := namedRole(c, "principalRole")
	if err != nil {
		return err
	}
	if err := h.admin.AssignPrincipalRole(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam), role); err != nil {
		return err
	}
	c.Status(http.StatusCreated)
	return nil
}

func (h *Handler) revokePrincipalRole(c *gin.Context) error {
	if err := h.admin.RevokePrincipalRole(c.Request.Context(), wire.Caller(c), c.Param(PrincipalParam), c.Param(principalRoleParam)); err != nil {
		return err
	}
	return wire.NoContent(c)
}
