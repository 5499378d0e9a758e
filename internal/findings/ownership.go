package findings

import (
	"strings"

	"github.com/sluice-data/sluice/models"
)

// longestPath bounds the path of a file in evidence, in bytes.
const longestPath = 1000

// OfOwnership is the finding about a writer whose commit was refused because it removes rows of a file that belongs to the
// platform. summary is that of the snapshot.
func OfOwnership(t models.Table, snapshot int64, file string, w models.Writer, summary map[string]string) models.Finding {
	f := aboutRefused(models.FindingOwnership, t, w, summary)
	f.SubjectKey = models.SubjectKey(string(f.Kind), w.Principal)
	f.Evidence.V["snapshot"], f.Evidence.V["file"] = idText(snapshot), strings.ToValidUTF8(file[:min(len(file), longestPath)], "")
	f.Evidence.V["remedy"] = "The file has rows of governed upserts, which no engine may remove or delete from. Keep the job to other keys and partitions, " +
		"let it append, or write through Sluice."
	return f
}
