package maintenance

import (
	"context"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// mostListed bounds how many objects one look for arrivals lists.
const mostListed = 10_000

// ListFiles is the object store of Arrivals.
type ListFiles interface {
	List(ctx context.Context, prefix, after string, limit int) ([]objects.Info, error)
}

// FileRecords knows the files that commits brought.
type FileRecords interface {
	KnownFiles(ctx context.Context, ids []string) ([]models.FileRecord, error)
}

// Arrivals looks for files that lie at a table's location and that no commit brought: what a writer leaves that cannot
// commit. It only reads, and is safe for concurrent use.
type Arrivals struct {
	files   ListFiles
	records FileRecords
}

// NewArrivals makes an Arrivals.
func NewArrivals(files ListFiles, records FileRecords) *Arrivals {
	return &Arrivals{files: files, records: records}
}

// Arrivals counts the files below a table's location, its metadata left out, that are newer than since and recorded of no
// commit. It lists 10,000 objects at most, in order of their names. Errors are those of the store and of the database.
func (a *Arrivals) Arrivals(ctx context.Context, table models.Table, since time.Time) (findings.Arrivals, error) {
	out := findings.Arrivals{Looked: true}
	base, err := objects.Parse(table.Location)
	if err != nil {
		return findings.Arrivals{}, err
	}
	metadata := base.String() + "/metadata/"
	after := ""
	for listed := 0; listed < mostListed; {
		page, err := a.files.List(ctx, base.String(), after, objects.MaxList)
		if err != nil {
			return findings.Arrivals{}, err
		}
		if len(page) == 0 {
			return out, nil
		}
		var newer []objects.Info
		for _, info := range page {
			if info.Modified.After(since) && !strings.HasPrefix(info.Location, metadata) {
				newer = append(newer, info)
			}
		}
		if err := a.count(ctx, table, base.String(), newer, &out); err != nil {
			return findings.Arrivals{}, err
		}
		listed, after = listed+len(page), page[len(page)-1].Location
	}
	out.Partial = true
	return out, nil
}

// count adds the files that no commit brought. Records have locations as the writer spells them, which is as the table's own.
func (a *Arrivals) count(ctx context.Context, t models.Table, base string, files []objects.Info, out *findings.Arrivals) error {
	if len(files) == 0 {
		return nil
	}
	by := map[string]int{}
	ids := make([]string, 0, 2*len(files))
	for i, f := range files {
		spelled := strings.TrimSuffix(t.Location, "/") + strings.TrimPrefix(f.Location, base)
		for _, location := range []string{f.Location, spelled} {
			id := models.FileRecordID(t.ID, location)
			if _, again := by[id]; !again {
				by[id] = i
				ids = append(ids, id)
			}
		}
	}
	records, err := a.records.KnownFiles(ctx, ids)
	if err != nil {
		return err
	}
	known := map[int]bool{}
	for _, r := range records {
		known[by[r.ID]] = true
	}
	for i, f := range files {
		if known[i] {
			continue
		}
		out.Files, out.Bytes = out.Files+1, out.Bytes+f.Size
		if f.Modified.After(out.Newest) {
			out.Newest = f.Modified
		}
	}
	return nil
}
