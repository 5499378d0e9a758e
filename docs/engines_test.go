package docs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEngineConfigurationsAreDocumented holds docs/engines.md to what `sluice connect` prints: the configuration of each engine with
// keys word for word, and each line that another mode or OAuth has in its place.
func TestEngineConfigurationsAreDocumented(t *testing.T) {
	t.Parallel()
	printed, err := filepath.Glob(filepath.Join(root, "cmd", "sluice", "testdata", "connect", "*.golden"))
	require.NoError(t, err)
	require.NotEmpty(t, printed)
	page := read(t, "docs/engines.md")
	for _, file := range printed {
		name := strings.TrimSuffix(filepath.Base(file), ".golden")
		text := read(t, "cmd/sluice/testdata/connect/"+filepath.Base(file))
		if strings.HasSuffix(name, "-vended-credentials-token") {
			assert.Contains(t, page, "\n"+text+"```\n", "docs/engines.md lacks the configuration %s", name)
			continue
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimRight(strings.TrimSpace(line), ","); !strings.HasPrefix(line, "#") {
				assert.Contains(t, page, line, "docs/engines.md lacks a line of %s", name)
			}
		}
	}
}
