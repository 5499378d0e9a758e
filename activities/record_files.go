package activities

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

const (
	// MostFiles is how many files of one commit are recorded at most.
	MostFiles = 10_000
	// fileChunk is how many are looked at and written at once.
	fileChunk = 500
	// toldFindings is how many findings about files the event of a commit names; all have a row.
	toldFindings = 10
)

// RecordFilesInput names a snapshot whose files are to be watched from now on.
type RecordFilesInput struct {
	Target  Target `json:"target"`
	Catalog string `json:"catalog,omitempty"` // name
	OnMain  bool   `json:"onMain,omitempty"`
}

// RecordFilesResult counts the files of the commit.
type RecordFilesResult struct {
	Recorded int64     `json:"recorded,omitempty"`
	Left     int64     `json:"left,omitempty"` // beyond MostFiles, or out of reach
	Findings []Finding `json:"findings,omitempty"`
	// SchemaBehind: the table has a newer schema than the commit left current.
	SchemaBehind bool `json:"schemaBehind,omitempty"`
}

// RecordFiles notes the size and the ETag of every data and delete file that a snapshot added, so that one that is
// replaced later is noticed, and marks those that it removed from main. A file that is not as its manifest says, or that was
// added before, is a finding at once. It is idempotent by the ids of the records, which keep what was noted first, and by the subjects of
// findings, of which one is open at a time.
func (a *Activities) RecordFiles(ctx context.Context, in RecordFilesInput) (RecordFilesResult, error) {
	defer heartbeat(ctx)()
	out, err := a.recordFiles(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) recordFiles(ctx context.Context, in RecordFilesInput) (RecordFilesResult, error) {
	var out RecordFilesResult
	at, err := a.locateRecent(ctx, in.Target)
	if err != nil || at.gone != NotGone {
		return out, err
	}
	changes, err := a.ports.Watcher.Changes(ctx, at.snapshot, MostFiles)
	if err != nil {
		return out, err
	}
	commit, err := a.commitOf(ctx, in.Target)
	if err != nil {
		return out, err
	}
	again, err := a.duplicateFiles(ctx, in, at, commit, changes)
	if err != nil {
		return out, err
	}
	back, err := a.rewound(ctx, in, at, commit, changes)
	if err != nil {
		return out, err
	}
	files := newFileNotes(in, at, commit.Writer.V.Principal, again)
	files.startedBack(back)
	if err := a.noteFiles(ctx, files, changes); err != nil {
		return out, err
	}
	out.Recorded, out.Left, out.Findings = files.recorded, changes.Left+files.left, files.told
	out.SchemaBehind = schemaBehind(at.current, commit)
	return out, nil
}

// noteFiles writes what is seen of a snapshot's files. The findings about files that were added before are written first:
// once the records are this snapshot's, nothing tells any more.
func (a *Activities) noteFiles(ctx context.Context, files *fileNotes, changes maintenance.ChangedFiles) error {
	if first := slices.Concat(files.again.found, files.back); len(first) > 0 {
		if err := a.ports.Files.RecordFiles(ctx, FileRecording{Findings: first}); err != nil {
			return err
		}
	}
	if files.in.OnMain {
		if err := a.forgetFiles(ctx, files.in.Target, changes.Removed); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(changes.Added, fileChunk) {
		sightings, err := a.ports.Watcher.Look(ctx, pathsOf(chunk), 0)
		if err != nil {
			return err
		}
		if err := a.stillCurrent(ctx, files, sightings); err != nil {
			return err
		}
		r, err := files.note(chunk, sightings)
		if err != nil {
			return err
		}
		if err := a.ports.Files.RecordFiles(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// stillCurrent asks whether the snapshot is still in the table where a file of it is gone: it may have been removed with it.
func (a *Activities) stillCurrent(ctx context.Context, files *fileNotes, sightings []maintenance.Sighting) error {
	if !files.current || !slices.ContainsFunc(sightings, func(s maintenance.Sighting) bool { return s.Gone }) {
		return nil
	}
	at, err := a.locate(ctx, files.in.Target)
	files.current = at.gone == NotGone && at.doc == at.current
	return err
}

func (a *Activities) forgetFiles(ctx context.Context, t Target, paths []string) error {
	for chunk := range slices.Chunk(paths, fileChunk) {
		ids := make([]string, len(chunk))
		for i, path := range chunk {
			ids[i] = models.FileRecordID(t.TableID, path)
		}
		if err := a.ports.Files.RecordFiles(ctx, FileRecording{Removed: ids, By: t.SnapshotID}); err != nil {
			return err
		}
	}
	return nil
}

// committer is who made the commit of a snapshot, "" where the ledger does not know it.
func (a *Activities) committer(ctx context.Context, t Target) (string, error) {
	commit, err := a.ports.Ledger.Commit(ctx, t.TableID, t.SnapshotID)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return commit.Writer.V.Principal, err
}

func pathsOf(files []maintenance.AddedFile) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// fileNotes makes records and findings of what is seen of a commit's files.
type fileNotes struct {
	in        RecordFilesInput
	principal string
	again     repeats
	back      []models.Finding // that the writer was started from too old a state
	current   bool             // the snapshot is in the table's current metadata: all its files must be there

	recorded, left int64
	told           []Finding
}

func newFileNotes(in RecordFilesInput, at found, principal string, again repeats) *fileNotes {
	n := &fileNotes{in: in, principal: principal, again: again, current: at.doc == at.current}
	for _, f := range again.found {
		n.tell(f.Kind, "Added before: "+f.Subject+".")
	}
	return n
}

// startedBack takes findings about what the commit brings as a whole.
func (n *fileNotes) startedBack(found []models.Finding) {
	n.back = found
	for _, f := range found {
		n.tell(f.Kind, "The job was started from an older checkpoint than the last one that was committed: "+f.Subject+".")
	}
}

// note gives what is to be written of some files. The error is one that may pass: the store does not answer.
func (n *fileNotes) note(files []maintenance.AddedFile, sightings []maintenance.Sighting) (FileRecording, error) {
	r := FileRecording{By: n.in.Target.SnapshotID}
	for i, file := range files {
		s := sightings[i]
		switch {
		case s.Err != nil && !permanent(s.Err):
			return r, s.Err
		case s.Err != nil || !recordable(file.Path):
			n.left++
			continue
		case s.Gone && !n.current:
			continue // it may have been removed with its snapshot
		}
		record := n.record(file, s)
		if _, stale := n.again.stale[record.ID]; stale {
			r.Removed = append(r.Removed, record.ID)
		}
		r.Added = append(r.Added, record)
		n.recorded++
		if s.Gone {
			n.find(&r, record, nil, fmt.Sprintf("The file %s is missing.", file.Path))
		} else if s.Size != file.Size {
			n.find(&r, record, stateOf(s), fmt.Sprintf("The file %s has %d bytes; its manifest says %d.", file.Path, s.Size, file.Size))
		}
	}
	return r, nil
}

// record is of a file with the size that its manifest says. What the store calls it counts only if it has that size.
func (n *fileNotes) record(file maintenance.AddedFile, s maintenance.Sighting) models.FileRecord {
	t := n.in.Target
	out := models.FileRecord{
		ID: models.FileRecordID(t.TableID, file.Path), TableID: t.TableID, Location: file.Path, SnapshotID: t.SnapshotID, Size: file.Size,
	}
	if s.Found && s.Size == file.Size {
		out.ETag, out.ModifiedAt = s.ETag, timeOf(s.Modified)
	}
	if was, stale := n.again.stale[out.ID]; stale && was.Size == out.Size && was.ETag != "" {
		out.ETag, out.ModifiedAt = was.ETag, was.ModifiedAt // what was noted first stays
	}
	return out
}

func (n *fileNotes) find(r *FileRecording, record models.FileRecord, now *models.FileState, sentence string) {
	t := n.in.Target
	finding := fileFinding(WatchedFile{
		FileRecord: record, CatalogID: t.CatalogID, Catalog: n.in.Catalog, TableUUID: t.TableUUID, TableName: t.TableName,
	}, now, n.principal)
	r.Findings = append(r.Findings, finding)
	n.tell(finding.Kind, sentence)
}

func (n *fileNotes) tell(kind models.FindingKind, sentence string) {
	if len(n.told) < toldFindings {
		n.told = append(n.told, Finding{kind, sentence})
	}
}
