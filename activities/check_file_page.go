package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

const (
	// checkPage is how many files one run of CheckFilePage looks at.
	checkPage = 1000
	// checksPerSecond bounds how often the stores are asked.
	checksPerSecond = 200
)

// CheckFilePageInput asks for the files that were not looked at since a time.
type CheckFilePageInput struct {
	Before time.Time `json:"before"`
}

// CheckFilePageResult counts what a page came to.
type CheckFilePageResult struct {
	Looked      int  `json:"looked,omitempty"`
	Wrong       int  `json:"wrong,omitempty"`       // changed or missing
	Unreachable int  `json:"unreachable,omitempty"` // the store, or the table's metadata, does not say
	Opened      int  `json:"opened,omitempty"`      // findings
	Resolved    int  `json:"resolved,omitempty"`    // findings
	More        bool `json:"more,omitempty"`
}

// CheckFilePage looks at a page of recorded files and holds each against its record. It is idempotent: a file that is
// looked at twice is found in the same state, findings are opened once for each subject, and what is written is one
// transaction. Files that cannot be looked at now have their turn again in the next run, so that one store that is down
// holds up nothing.
func (a *Activities) CheckFilePage(ctx context.Context, in CheckFilePageInput) (CheckFilePageResult, error) {
	defer heartbeat(ctx)()
	out, err := a.checkFilePage(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) checkFilePage(ctx context.Context, in CheckFilePageInput) (CheckFilePageResult, error) {
	files, err := a.ports.Files.FilesToCheck(ctx, in.Before, checkPage)
	if err != nil || len(files) == 0 {
		return CheckFilePageResult{}, err
	}
	p := &filePage{acts: a, missing: map[string][]WatchedFile{}}
	watched := p.sort(files)
	paths := make([]string, len(watched))
	for i, f := range watched {
		paths[i] = f.Location
	}
	sightings, err := a.ports.Watcher.Look(ctx, paths, checksPerSecond)
	if err != nil {
		return p.out, err
	}
	for i, f := range watched {
		if err := p.judge(ctx, f, sightings[i]); err != nil {
			return p.out, err
		}
	}
	for _, gone := range p.missing {
		if err := p.judgeGone(ctx, gone); err != nil {
			return p.out, err
		}
	}
	// Never before the time asked for, whatever this machine's clock says, or the same files would come again.
	if p.check.At = a.ports.Now().UTC(); p.check.At.Before(in.Before) {
		p.check.At = in.Before.UTC()
	}
	counts, err := a.ports.Files.SettleFiles(ctx, p.check)
	p.out.Looked, p.out.Wrong, p.out.Opened, p.out.Resolved = len(files), len(p.check.Wrong), counts.Opened, counts.Resolved
	p.out.More = len(files) == checkPage
	return p.out, err
}

// filePage is one page being judged.
type filePage struct {
	acts    *Activities
	check   FileCheck
	missing map[string][]WatchedFile // by table
	out     CheckFilePageResult
}

// sort gives the files to look at: those of tables that are there.
func (p *filePage) sort(files []WatchedFile) []WatchedFile {
	var watched []WatchedFile
	gone := map[string]bool{}
	for _, f := range files {
		p.check.Looked = append(p.check.Looked, f.ID)
		switch f.Is {
		case TableThere:
			watched = append(watched, f)
		case TableGone:
			p.check.Forgotten = append(p.check.Forgotten, f.ID)
			if !gone[f.TableID] {
				gone[f.TableID] = true
				p.check.GoneTables = append(p.check.GoneTables, f.TableID)
			}
		}
	}
	return watched
}

func (p *filePage) judge(ctx context.Context, f WatchedFile, s maintenance.Sighting) error {
	switch {
	case s.Err != nil:
		p.unreachable(ctx, f, 1, s.Err)
	case s.Gone:
		p.missing[f.TableID] = append(p.missing[f.TableID], f)
	case unchanged(f.FileRecord, s):
		p.check.Well = append(p.check.Well, f.ID)
		if named := f.FileRecord; named.ETag == "" && s.ETag != "" {
			named.ETag, named.ModifiedAt = s.ETag, timeOf(s.Modified)
			p.check.Named = append(p.check.Named, named)
		}
	default:
		return p.wrong(ctx, f, stateOf(s))
	}
	return nil
}

// judgeGone tells files that a table misses from those that went with their snapshots. The table's metadata is read after
// the files were found gone.
func (p *filePage) judgeGone(ctx context.Context, files []WatchedFile) error {
	first := files[0]
	at, err := p.acts.currentDocument(ctx, Target{CatalogID: first.CatalogID, TableID: first.TableID, TableUUID: first.TableUUID, TableName: first.TableName})
	if err != nil || at.gone != NotGone {
		if ctx.Err() == nil && err != nil {
			p.unreachable(ctx, first, len(files), err)
		}
		return ctx.Err()
	}
	old := map[string]struct{}{} // of snapshots that the table has no more; a head may still refer to them
	for _, f := range files {
		if _, ok := at.current.Snapshot(f.SnapshotID); !ok {
			old[f.Location] = struct{}{}
		}
	}
	live := map[string]struct{}{}
	if len(old) > 0 {
		if live, err = p.acts.ports.Watcher.Live(ctx, at.current, old); err != nil {
			p.unreachable(ctx, first, len(old), err)
			live = nil
		}
	}
	for _, f := range files {
		_, wasOld := old[f.Location]
		_, isLive := live[f.Location]
		switch {
		case !wasOld || isLive:
			err = p.wrong(ctx, f, nil)
		case live != nil:
			p.check.Forgotten = append(p.check.Forgotten, f.ID)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (p *filePage) wrong(ctx context.Context, f WatchedFile, now *models.FileState) error {
	principal, err := p.acts.committer(ctx, Target{TableID: f.TableID, SnapshotID: f.SnapshotID})
	p.check.Wrong = append(p.check.Wrong, WrongFile{Record: f.FileRecord, Finding: fileFinding(f, now, principal)})
	return err
}

func (p *filePage) unreachable(ctx context.Context, f WatchedFile, files int, err error) {
	if p.out.Unreachable == 0 { // one is enough to look for the reason
		activity.GetLogger(ctx).Warn("files could not be checked", "table", f.TableName, "file", f.Location, "error", err)
	}
	p.out.Unreachable += files
}
