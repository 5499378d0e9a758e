package findings

import (
	"strings"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// longestPath bounds the path of a file in evidence, in bytes.
const longestPath = 1000

// OfOwnership is the finding about a writer whose commit was refused because it removes rows of a file that belongs to the
// platform. summary is that of the snapshot.
func OfOwnership(t models.Table, snapshot int64, file string, w models.Writer, summary map[string]string) models.Finding {
	id := writers.Identify(t.ID, "main", w, summary)
	f := aboutTable(models.FindingOwnership, t)
	f.Principal = w.Principal
	f.Subject = subjectOf(id.Kind, id.Key, w.Principal)
	f.SubjectKey = models.SubjectKey(string(f.Kind), w.Principal)
	f.Evidence.V = map[string]any{
		"writer": f.Subject, "principal": w.Principal, "engine": w.Engine, "client": w.Client, "address": w.Address, "tokenId": w.TokenID,
		"snapshot": idText(snapshot), "file": strings.ToValidUTF8(file[:min(len(file), longestPath)], ""),
		"remedy": "The file has rows of governed upserts, which no engine may remove or delete from. Keep the job to other keys and partitions, " +
			"let it append, or write through Sluice.",
	}
	for name, text := range map[string]string{"job": id.Job, "unit": id.Unit} {
		if text != "" {
			f.Evidence.V[name] = text
		}
	}
	return f
}
