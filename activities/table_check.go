package activities

import (
	"context"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// tableCheck is one table being looked at.
type tableCheck struct {
	acts   *Activities
	t      TableToCheck
	before time.Time
	now    time.Time

	open    []models.Finding // of the table
	found   []models.Finding
	gone    []models.FindingSubject // that are well again
	stamped bool
	again   bool // it is to be looked at again soon, changed or not
	counts  FindingCounts
}

// run looks at everything and writes what it found. On an error the table does not count as looked at.
func (c *tableCheck) run(ctx context.Context) error {
	var err error
	if c.open, err = c.openFindings(ctx); err != nil {
		return err
	}
	doc, readable, err := c.document(ctx)
	if err != nil || doc == nil && readable {
		c.again = true
		return err
	}
	if doc != nil {
		if err := c.governance(ctx, doc); err != nil {
			return err
		}
		if err := c.suggestions(ctx, doc); err != nil {
			return err
		}
		if err := c.rolledBack(ctx, doc); err != nil {
			return err
		}
		if err := c.manifestLists(ctx, doc); err != nil {
			return err
		}
	}
	return c.write(ctx)
}

func (c *tableCheck) openFindings(ctx context.Context) ([]models.Finding, error) {
	var out []models.Finding
	after := ""
	for {
		page, err := c.acts.ports.Findings.OpenFindingsOf(ctx, c.t.Table.ID, after, watchPage)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if len(page) < watchPage {
			return out, nil
		}
		after = page[len(page)-1].ID
	}
}

// document reads the table's current metadata. What is missing or cannot be understood is a finding; a table that changed
// meanwhile gives neither, and is left to the next check.
func (c *tableCheck) document(ctx context.Context) (doc *metadata.Document, readable bool, err error) {
	if doc, err = c.load(ctx); err == nil {
		c.well(models.FindingUnreadable, "The table's metadata can be read.")
		return doc, true, nil
	}
	if !permanent(err) {
		return nil, false, err
	}
	now, missing := c.acts.ports.Ledger.TableByID(ctx, c.t.Table.ID)
	switch {
	case fault.Is(missing, fault.NotFound), missing == nil && now.MetadataLocation != c.t.Table.MetadataLocation:
		return nil, true, nil
	case missing != nil:
		return nil, false, missing
	}
	f := c.about(models.FindingUnreadable, c.t.Table.MetadataLocation)
	f.Evidence.V = map[string]any{
		"file": c.t.Table.MetadataLocation, "reason": publicMessage(err),
		"remedy": "Bring the file back from a backup or a version that the store keeps. Else register the table again from the newest metadata file that there is.",
	}
	c.find(f)
	c.again = true
	return nil, false, nil
}

// load reads the metadata file, which must be there: what is remembered of it helps nobody else.
func (c *tableCheck) load(ctx context.Context) (*metadata.Document, error) {
	location := c.t.Table.MetadataLocation
	seen, err := c.acts.ports.Watcher.Look(ctx, []string{location}, 0)
	switch {
	case err != nil:
		return nil, err
	case seen[0].Gone:
		return nil, fault.About(fault.NotFound, fault.File, "The metadata file %s is missing.", location)
	case seen[0].Err != nil:
		return nil, seen[0].Err
	}
	doc, err := c.acts.ports.Documents.Document(ctx, location)
	if err == nil {
		_, err = doc.CurrentSchema()
	}
	return doc, err
}

// governance holds the table against what is said of it. Stamped properties that differ are put right: where somebody changed
// them that is a finding, where governance changed or the table was never looked at, it is what was still to be done.
func (c *tableCheck) governance(ctx context.Context, doc *metadata.Document) error {
	a := c.acts.ports
	seen := map[models.FindingKind]bool{}
	for _, f := range findings.OfGovernance(c.t.Table, doc, a.ReservedPrefix) {
		if f.Kind == models.FindingPropertyDrift {
			told, err := c.drift(ctx, f)
			if err != nil {
				return err
			}
			if !told {
				continue
			}
		} else {
			c.find(f)
		}
		seen[f.Kind] = true
	}
	if f, ok := findings.OfMetadata(c.t.Table, doc, a.Thresholds.MetadataBytes); ok {
		seen[f.Kind] = true
		c.find(f)
	}
	for _, kind := range []models.FindingKind{
		models.FindingPropertyDrift, models.FindingClassifiedChanged, models.FindingUnclassified, models.FindingLargeMetadata,
	} {
		if !seen[kind] {
			c.well(kind, "It is as governance says.")
		}
	}
	return nil
}

// drift puts stamped properties right. The finding is written first: afterwards nothing tells any more. told is false where
// there is none.
func (c *tableCheck) drift(ctx context.Context, f models.Finding) (told bool, err error) {
	if told = c.t.Last != nil && c.t.Last.Stamp == c.t.Stamp; told {
		c.find(f)
		if err := c.write(ctx); err != nil {
			return told, err
		}
	}
	keys, err := c.acts.ports.Restamper.Restamp(ctx, c.t.Table.ID)
	c.stamped, c.again = len(keys) > 0, err != nil
	if !told {
		return told, ctx.Err()
	}
	if f.Evidence.V["putRight"] = err == nil; err != nil {
		f.Evidence.V["reason"] = publicMessage(err)
	}
	c.find(f)
	return told, ctx.Err()
}

// ofCommits gives the kinds of findings that go with the snapshot that they are about.
func ofCommits(kind models.FindingKind) bool {
	switch kind {
	case models.FindingDuplicateCheckpoint, models.FindingDuplicateFile, models.FindingOffsetRegression, models.FindingSchemaRegression,
		models.FindingSummaryMismatch, models.FindingDeletePileup:
		return true
	}
	return false
}

// rolledBack resolves findings about commits that no branch or tag has any more. A snapshot that is expired is still there
// for the ledger.
func (c *tableCheck) rolledBack(ctx context.Context, doc *metadata.Document) error {
	var expired []int64
	by := map[int64][]models.Finding{}
	for _, f := range c.open {
		if f.SnapshotID == nil || !ofCommits(f.Kind) || referred(doc, *f.SnapshotID) {
			continue
		}
		if by[*f.SnapshotID] == nil {
			expired = append(expired, *f.SnapshotID)
		}
		by[*f.SnapshotID] = append(by[*f.SnapshotID], f)
	}
	if len(expired) == 0 {
		return nil
	}
	there, err := c.acts.ports.Checks.OnLedger(ctx, c.t.Table.ID, expired)
	if err != nil {
		return err
	}
	for _, id := range expired {
		if there[id] {
			continue
		}
		branch, err := c.onLivingBranch(ctx, doc, id)
		if err != nil {
			return err
		}
		if branch {
			continue
		}
		for _, f := range by[id] {
			c.resolve(f, "Snapshot "+strconv.FormatInt(id, 10)+" was rolled back.")
		}
	}
	return nil
}

// referred tells whether a branch or tag leads to a snapshot.
func referred(doc *metadata.Document, id int64) bool {
	if onMain(doc, id) {
		return true
	}
	for _, ref := range doc.Refs() {
		if doc.IsAncestor(id, ref.SnapshotID) {
			return true
		}
	}
	return false
}

// onLivingBranch tells of a snapshot that is expired whether it was committed to a branch other than main that is still
// there: nobody knows then that it was rolled back.
func (c *tableCheck) onLivingBranch(ctx context.Context, doc *metadata.Document, id int64) (bool, error) {
	if _, ok := doc.Snapshot(id); ok {
		return false, nil
	}
	commit, err := c.acts.ports.Ledger.Commit(ctx, c.t.Table.ID, id)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	_, there := doc.Refs()[commit.Ref]
	return there && commit.Ref != "main", err
}

// about starts a finding about a file of the table.
func (c *tableCheck) about(kind models.FindingKind, file string) models.Finding {
	t := c.t.Table
	return models.Finding{
		Kind: kind, Severity: kind.Severity(), CatalogID: t.CatalogID, TableID: t.ID, TableUUID: t.UUID,
		Subject: file, SubjectKey: models.FileRecordID(t.ID, file),
	}
}

func (c *tableCheck) find(f models.Finding) {
	f.Catalog, f.Table = c.t.Catalog, c.t.Name
	c.found = append(c.found, f)
}

// well resolves what is open of a kind.
func (c *tableCheck) well(kind models.FindingKind, note string) {
	for _, f := range c.open {
		if f.Kind == kind {
			c.resolve(f, note)
		}
	}
}

func (c *tableCheck) resolve(f models.Finding, note string) {
	c.gone = append(c.gone, models.FindingSubject{TableID: f.TableID, Kind: f.Kind, SubjectKey: f.SubjectKey, Note: note})
}

// write settles what was found so far.
func (c *tableCheck) write(ctx context.Context) error {
	counts, err := c.acts.settleFindings(ctx, FindingSettlement{Found: c.found, Resolved: c.gone})
	if err == nil {
		c.counts.Opened, c.counts.Resolved = c.counts.Opened+counts.Opened, c.counts.Resolved+counts.Resolved
		c.found, c.gone = nil, nil
	}
	return err
}
