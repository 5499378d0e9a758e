package findings

import (
	"strings"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// OfStaleIdentity is the finding about a writer that means a table which another one took the place of: it was dropped and
// made again while the writer ran. claimed is the uuid that it names, summary that of the snapshot it wants to commit.
func OfStaleIdentity(t models.Table, claimed string, w models.Writer, summary map[string]string) models.Finding {
	id := writers.Identify(t.ID, "main", w, summary)
	f := aboutTable(models.FindingStaleIdentity, t)
	f.Principal = w.Principal
	f.Subject = subjectOf(id.Kind, id.Key, w.Principal)
	f.SubjectKey = models.SubjectKey(string(f.Kind), w.Principal, claimed)
	f.Evidence.V = map[string]any{
		"writer": f.Subject, "principal": w.Principal, "engine": w.Engine, "client": w.Client, "address": w.Address, "tokenId": w.TokenID,
		"claimedUuid": short(claimed), "uuid": t.UUID,
		"remedy": "The table was dropped and made again while the writer ran. Restart it, so that it loads the table of now; what it wrote since belongs to " +
			"no table.",
	}
	for name, text := range map[string]string{"job": id.Job, "unit": id.Unit} {
		if text != "" {
			f.Evidence.V[name] = text
		}
	}
	return f
}

// short bounds a client's text in evidence.
func short(text string) string { return strings.ToValidUTF8(text[:min(len(text), 100)], "") }
