package catalog

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// separator joins the levels of a namespace in paths and in ?parent=, decoded. It is always understood.
	separator = "\x1f"
	// separatorKey is where a request keeps the separator that the config answer offers instead, if any.
	separatorKey = "sluice.namespaceSeparator"
)

func pathNamespace(c *gin.Context) ([]string, error) {
	return levelsOf(c, c.Param("namespace"))
}

// levelsOf splits a namespace of the request. What has a unit separator comes from a client that uses it, so that the
// other separator is part of its names.
func levelsOf(c *gin.Context, joined string) ([]string, error) {
	own := c.GetString(separatorKey)
	if own == "" || strings.Contains(joined, separator) {
		return splitLevels(joined)
	}
	levels := strings.Split(joined, own)
	return levels, checkLevels(levels)
}

// checkAddressable refuses to make a namespace that paths could not name.
func (h *Handler) checkAddressable(levels []string) error {
	if err := checkLevels(levels); err != nil {
		return err
	}
	for i, level := range levels {
		if own := h.NamespaceSeparator; own != "" && strings.Contains(level, own) {
			return fault.New(fault.Invalid, "Level %d of the namespace, %q, contains %q, which separates levels on this server. Choose another name, or send its parts as levels.", i+1, level, own)
		}
	}
	return nil
}

func pathTable(c *gin.Context) (models.TableIdent, error) {
	levels, err := pathNamespace(c)
	return models.TableIdent{Namespace: levels, Name: c.Param("table")}, err
}

func splitLevels(joined string) ([]string, error) {
	levels := strings.Split(joined, separator)
	return levels, checkLevels(levels)
}

func checkLevels(levels []string) error {
	if len(levels) == 0 {
		return fault.New(fault.Invalid, "A namespace needs at least one level.")
	}
	for i, level := range levels {
		if level == "" {
			return fault.New(fault.Invalid, "Level %d of the namespace %q is empty. Separate levels with one separator, %%1F unless the config answer offers another.",
				i+1, strings.Join(levels, "."))
		}
		if strings.Contains(level, separator) {
			return fault.New(fault.Invalid, "Level %d of the namespace contains the unit separator (0x1F). Send each level as its own list element.", i+1)
		}
	}
	return nil
}
