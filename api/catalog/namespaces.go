package catalog

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
)

type namespaceAnswer struct {
	Namespace  []string          `json:"namespace"`
	Properties map[string]string `json:"properties"`
}

type namespacesAnswer struct {
	Namespaces    [][]string `json:"namespaces"`
	NextPageToken string     `json:"next-page-token,omitempty"`
}

type propertiesAnswer struct {
	Updated []string `json:"updated"`
	Removed []string `json:"removed"`
	Missing []string `json:"missing"`
}

func (h *Handler) listNamespaces(c *gin.Context, s scope) error {
	var parent []string
	var err error
	if joined := c.Query("parent"); joined != "" {
		if parent, err = levelsOf(c, joined); err != nil {
			return err
		}
	}
	page, err := pageOf(c)
	if err != nil {
		return err
	}
	list, err := h.Namespaces.ListNamespaces(s.ctx, s.caller, s.cat, parent, page)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, namespacesAnswer{
		Namespaces: orEmpty(list.Items), NextPageToken: encodePageToken(list.Next),
	})
}

func namespaceInput(c *gin.Context) (core.NamespaceInput, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return core.NamespaceInput{}, err
	}
	in := core.NamespaceInput{Levels: body.Strings("namespace"), Properties: body.OptionalStringMap("properties")}
	return in, body.Err()
}

func (h *Handler) createNamespace(c *gin.Context, s scope) error {
	in, err := namespaceInput(c)
	if err != nil {
		return err
	}
	if err := h.checkAddressable(in.Levels); err != nil {
		return err
	}
	ns, err := h.Namespaces.CreateNamespace(s.ctx, s.caller, s.cat, in)
	return answerNamespace(c, ns, err)
}

func (h *Handler) loadNamespace(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	ns, err := h.Namespaces.LoadNamespace(s.ctx, s.caller, s.cat, levels)
	return answerNamespace(c, ns, err)
}

func answerNamespace(c *gin.Context, ns core.NamespaceView, err error) error {
	if err != nil {
		return err
	}
	if ns.Properties == nil {
		ns.Properties = map[string]string{}
	}
	return wire.JSON(c, http.StatusOK, namespaceAnswer{Namespace: ns.Levels, Properties: ns.Properties})
}

func (h *Handler) namespaceExists(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	if err := h.Namespaces.NamespaceExists(s.ctx, s.caller, s.cat, levels); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) dropNamespace(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	if err := h.Namespaces.DropNamespace(s.ctx, s.caller, s.cat, levels); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) updateProperties(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	in := core.PropertiesUpdate{Updates: body.OptionalStringMap("updates"), Removals: body.OptionalStrings("removals")}
	if err := body.Err(); err != nil {
		return err
	}
	done, err := h.Namespaces.UpdateNamespaceProperties(s.ctx, s.caller, s.cat, levels, in)
	if err != nil {
		return err
	}
	return answerProperties(c, done)
}

func answerProperties(c *gin.Context, done core.PropertiesResult) error {
	return wire.JSON(c, http.StatusOK, propertiesAnswer{
		Updated: orEmpty(done.Updated), Removed: orEmpty(done.Removed), Missing: orEmpty(done.Missing),
	})
}

// orEmpty makes a nil list one that is encoded as [].
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
