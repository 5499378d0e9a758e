package models_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func TestAuditTypesNamesEachConstant(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("audit.go")
	require.NoError(t, err)
	var declared []models.AuditType
	for _, m := range regexp.MustCompile(`(?m)^\tAudit\w+\s+AuditType = "([^"]+)"`).FindAllSubmatch(source, -1) {
		declared = append(declared, models.AuditType(m[1]))
	}
	assert.ElementsMatch(t, declared, models.AuditTypes())
}
