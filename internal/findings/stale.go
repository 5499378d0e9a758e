package findings

import (
	"strings"

	"github.com/sluice-data/sluice/models"
)

// OfStaleIdentity is the finding about a writer that means a table which another one took the place of: it was dropped and
// made again while the writer ran. claimed is the uuid that it names, summary that of the snapshot it wants to commit.
func OfStaleIdentity(t models.Table, claimed string, w models.Writer, summary map[string]string) models.Finding {
	f := aboutRefused(models.FindingStaleIdentity, t, w, summary)
	f.SubjectKey = models.SubjectKey(string(f.Kind), w.Principal, claimed)
	f.Evidence.V["claimedUuid"], f.Evidence.V["uuid"] = short(claimed), t.UUID
	f.Evidence.V["remedy"] = "The table was dropped and made again while the writer ran. Restart it, so that it loads the table of now; what it wrote since belongs to " +
		"no table."
	return f
}

// short bounds a client's text in evidence.
func short(text string) string { return strings.ToValidUTF8(text[:min(len(text), 100)], "") }
