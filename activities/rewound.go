package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// rewound finds the first commit of a stream that was started from too old a state, by the files that it brings. The
// ledger is asked only where the files are those of more than one checkpoint.
func (a *Activities) rewound(ctx context.Context, in RecordFilesInput, at found, c models.Commit, changes maintenance.ChangedFiles) ([]models.Finding, error) {
	files := make([]findings.NewFile, len(changes.Added))
	for i, f := range changes.Added {
		files[i] = findings.NewFile{Path: f.Path, Size: f.Size}
	}
	if c.WriterID == "" || findings.Pieces(c, files) < 2 {
		return nil, nil
	}
	history, err := a.ports.Ledger.History(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, ok := findings.OfRewound(c, history, files); !ok {
		return nil, nil
	}
	if history.Ancestors, err = a.ancestors(ctx, at, findings.Concerned(history)); err != nil {
		return nil, err
	}
	f, ok := findings.OfRewound(c, history, files)
	if !ok {
		return nil, nil
	}
	ofCommit(&f, c, in.Catalog)
	return []models.Finding{f}, nil
}
