package catalog

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// describe fills a plan's effects: a ledger row for every added snapshot, and the audit event of the commit.
func (s *Service) describe(caller policy.Caller, p *plan, kind models.CommitKind, actions []string, c metadata.Changes) {
	row := p.row
	row.UUID = canonicalUUID(p.next.UUID())
	typ, ids := models.AuditTableCommitted, make([]string, 0, len(c.AddedSnapshots))
	if p.creates {
		typ = models.AuditTableCreated
	}
	schema := int64(p.next.CurrentSchemaID())
	for _, snap := range c.AddedSnapshots {
		commit := s.ledgerRow(caller, p.at, row, snap, refOf(c, snap.ID), kind)
		id := writers.Identify(row.ID, commit.Ref, commit.Writer.V, snap.Summary)
		commit.WriterID, commit.Job, commit.Unit, commit.SchemaID = id.ID, id.Job, id.Unit, &schema
		p.effects.Commits = append(p.effects.Commits, commit)
		ids = append(ids, strconv.FormatInt(snap.ID, 10))
	}
	event := s.tableEvent(caller, typ, p.at, row, map[string]any{
		"kind": kind, "actions": counted(actions), "snapshots": ids[:min(len(ids), notedSnapshots)], "client": caller.Origin.Client,
	})
	if len(ids) > notedSnapshots {
		event.Details.V["snapshotCount"] = len(ids)
	}
	if len(c.AddedSnapshots) > 0 {
		event.SnapshotID = &c.AddedSnapshots[len(c.AddedSnapshots)-1].ID
	}
	p.effects.Audit = []models.AuditEvent{event}
}

// mainBranch is the branch that readers get.
const mainBranch = "main"

// refOf gives the ref that a commit moved to a snapshot, if only for a moment, "" if none: main before other branches, and
// those before tags. A commit of several snapshots moves its branch from one to the next.
func refOf(c metadata.Changes, snapshot int64) string {
	name, best := "", 0
	for _, r := range c.RefChanges {
		if r.After == nil || r.After.SnapshotID != snapshot {
			continue
		}
		rank := 1
		if r.After.Type == "branch" {
			rank = 2
		}
		if r.Name == mainBranch {
			rank = 3
		}
		if rank > best {
			name, best = r.Name, rank
		}
	}
	return name
}

func (s *Service) ledgerRow(caller policy.Caller, at tablePlace, row models.Table, snap metadata.Snapshot, ref string, kind models.CommitKind) models.Commit {
	return models.Commit{
		CatalogID: at.cat.ID, TableID: row.ID, TableUUID: row.UUID, TableName: at.name(row.Name),
		SnapshotID: snap.ID, ParentSnapshotID: snap.ParentID, SequenceNumber: snap.SequenceNumber, Ref: ref,
		Operation: snap.Operation, Summary: models.JSON[map[string]string]{V: snap.Summary}, Kind: kind,
		MetadataLocation: row.MetadataLocation, // of a registered table; a commit's is named when it is written
		Writer: models.JSON[models.Writer]{V: models.Writer{
			Principal: caller.Principal, TokenID: caller.TokenID, Engine: engineOf(snap.Summary, caller.Origin.Client),
			Client: caller.Origin.Client, RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
		}},
		CommittedAt: s.now(), Status: models.CommitPending,
	}
}

// engineOf names the engine by what it writes into its snapshots, else by how its client introduces itself.
func engineOf(summary map[string]string, client string) string {
	if name := summary["engine-name"]; name != "" {
		return writers.Shorten(name) // each list of writers has it
	}
	switch {
	case summary["flink.job-id"] != "":
		return "flink"
	case summary["kafka.connect.commit-id"] != "":
		return "kafka-connect"
	case summary["spark.app.id"] != "":
		return "spark"
	}
	lower := strings.ToLower(client)
	for _, engine := range [...]string{"pyiceberg", "duckdb", "spark", "flink", "trino", "iceberg-go", "iceberg"} {
		if strings.Contains(lower, engine) {
			return engine
		}
	}
	return ""
}

// pointTo makes a row point to a document at a location. The row keeps the table's location in its one spelling, so
// that tables can be compared.
func (s *Service) pointTo(row *models.Table, doc *metadata.Document, location string) error {
	normal, err := s.locations.Normalize(doc.Location())
	if err != nil {
		return err
	}
	row.UUID, row.Location = canonicalUUID(doc.UUID()), normal
	row.MetadataLocation, row.FormatVersion = location, doc.FormatVersion()
	row.CurrentSnapshotID = nil
	if head, ok := doc.CurrentSnapshotID(); ok {
		row.CurrentSnapshotID = &head
	}
	return nil
}

// newMetadataLocation names the file after the previous one: metadata/<5-digit version>-<uuid>.metadata.json, with
// .gz before .metadata where the table wants compression. A write.metadata.path moves the folder, but never out of the
// table's own: there Sluice, which may write everywhere, would write for who may not.
func (s *Service) newMetadataLocation(doc *metadata.Document, previous string) string {
	return s.metadataLocation(doc.Location(), doc.Properties(), previous)
}

func (s *Service) metadataLocation(location string, properties map[string]string, previous string) string {
	gz := ""
	if strings.EqualFold(properties["write.metadata.compression-codec"], "gzip") {
		gz = ".gz"
	}
	version := 0
	if previous != "" {
		version = metadata.MetadataLocationVersion(previous) + 1
	}
	return fmt.Sprintf("%s/%05d-%s%s.metadata.json", s.metadataFolder(location, properties), version, uuid.NewString(), gz)
}

// metadataFolder is where a table's metadata files go: write.metadata.path where it lies in the table, else metadata.
func (s *Service) metadataFolder(location string, properties map[string]string) string {
	folder := strings.TrimRight(properties["write.metadata.path"], "/")
	if folder == "" || !s.locations.Within(location, folder) {
		folder = strings.TrimRight(location, "/") + "/metadata"
	}
	return folder
}

func (s *Service) writeDocument(ctx context.Context, location string, doc *metadata.Document) error {
	return s.writeBytes(ctx, location, doc.Bytes())
}

// writeBytes writes a metadata file, compressed when its name says so.
func (s *Service) writeBytes(ctx context.Context, location string, data []byte) error {
	if strings.HasSuffix(location, ".gz.metadata.json") {
		var buf bytes.Buffer
		zw := gzip.NewWriter(&buf)
		_, _ = zw.Write(data) // a bytes.Buffer does not fail
		_ = zw.Close()
		data = buf.Bytes()
	}
	return s.files.CreateFile(ctx, location, data)
}

// discard removes metadata files that a failed commit wrote, best effort: they are referenced by nothing. When the
// outcome is in doubt they may be current, and stay.
func (s *Service) discard(ctx context.Context, cause error, locations ...string) {
	if fault.Is(cause, fault.UnknownState) {
		return
	}
	for _, location := range locations {
		if err := s.files.DeleteFile(ctx, location); err != nil {
			s.log.WarnContext(ctx, "an unused metadata file stays behind", "location", location, "error", err)
		}
	}
}
