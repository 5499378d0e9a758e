package activities

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// mostColumns is how many names of columns a finding gives.
const mostColumns = 100

// schemaBehind tells whether a table has a newer schema than a commit left current: only then may the commit have brought
// an older one back.
func schemaBehind(doc *metadata.Document, c models.Commit) bool {
	if c.SchemaID == nil {
		return false
	}
	for _, id := range doc.SchemaIDs() {
		if int64(id) > *c.SchemaID {
			return true
		}
	}
	return false
}

// schemaRegression holds a commit that brought data against the schema that was current before it, which the metadata file
// before its own has: that may be another than the commit before left. A writer that still has the schema of when it was
// started brings an older one back, and columns are lost. Files that are gone for good tell nothing. A commit that begins a
// table anew (CREATE OR REPLACE TABLE) loses nothing: it means the schema that it has, and nothing of before is read with it.
func (a *Activities) schemaRegression(ctx context.Context, c models.Commit) (models.Finding, bool, error) {
	doc, ok, err := a.pastDocument(ctx, c.MetadataLocation)
	if err != nil || !ok {
		return models.Finding{}, false, err
	}
	log := doc.MetadataLog()
	if len(log) == 0 {
		return models.Finding{}, false, nil
	}
	previous, ok, err := a.pastDocument(ctx, log[len(log)-1].File)
	if err != nil || !ok || beginsAnew(c, previous) {
		return models.Finding{}, false, err
	}
	before, err := previous.CurrentSchema()
	if err != nil {
		return models.Finding{}, false, nil //nolint:nilerr // nobody can read it: see unreadable_table
	}
	now, err := doc.CurrentSchema()
	if err != nil || now.ID >= before.ID {
		return models.Finding{}, false, nil //nolint:nilerr // as above
	}
	lost := lostColumns(before, now)
	return regressionOf(c, before, now, lost), len(lost) > 0, nil
}

// beginsAnew tells whether a commit builds on no snapshot although there was a current one.
func beginsAnew(c models.Commit, previous *metadata.Document) bool {
	_, had := previous.CurrentSnapshotID()
	return had && c.ParentSnapshotID == nil
}

// lostColumns gives the columns, by field id, that a schema has no more.
func lostColumns(before, now metadata.Schema) []string {
	kept := map[int]bool{}
	now.Walk(func(f metadata.Field) { kept[f.ID] = true })
	var lost []string
	before.Walk(func(f metadata.Field) {
		if !kept[f.ID] {
			lost = append(lost, f.Path)
		}
	})
	return lost
}

func regressionOf(c models.Commit, before, now metadata.Schema, lost []string) models.Finding {
	kind := models.FindingSchemaRegression
	f := models.Finding{
		Kind: kind, Severity: kind.Severity(), Subject: snapshotSubject(c.SnapshotID),
		SubjectKey: models.SubjectKey(string(kind), strconv.FormatInt(c.SnapshotID, 10)),
	}
	f.Evidence.V = map[string]any{
		"snapshot": strconv.FormatInt(c.SnapshotID, 10), "schema": now.ID, "earlierSchema": before.ID,
		"lostColumns": lost[:min(len(lost), mostColumns)], "lostCount": len(lost),
		"writer": strings.TrimSpace(c.Writer.V.Engine + " of " + c.Writer.V.Principal), "at": c.CommittedAt.UTC().Format(time.RFC3339Nano),
		"remedy": "The writer set an older schema with its commit. Restart it, so that it loads the table's schema; then make the newer one current again: files that have the columns still have them.",
	}
	return f
}

// pastDocument reads a metadata file that may be gone for good.
func (a *Activities) pastDocument(ctx context.Context, location string) (*metadata.Document, bool, error) {
	if location == "" {
		return nil, false, nil
	}
	doc, err := a.ports.Documents.Document(ctx, location)
	if permanent(err) {
		return nil, false, nil
	}
	return doc, err == nil, err
}
