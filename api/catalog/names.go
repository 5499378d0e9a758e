package catalog

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// separator joins the levels of a namespace in paths and in ?parent=, decoded.
const separator = "\x1f"

func pathNamespace(c *gin.Context) ([]string, error) {
	return splitLevels(c.Param("namespace"))
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
			return fault.New(fault.Invalid, "Level %d of the namespace %q is empty. Separate levels with one %%1F.",
				i+1, strings.Join(levels, "."))
		}
		if strings.Contains(level, separator) {
			return fault.New(fault.Invalid, "Level %d of the namespace contains the unit separator (0x1F). Send each level as its own list element.", i+1)
		}
	}
	return nil
}
