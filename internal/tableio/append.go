package tableio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// undoWithin bounds the removal of files of a commit that was refused; what is left is garbage.
const undoWithin = 10 * time.Second

// Appender appends rows to tables.
type Appender struct {
	core  Core
	files Files
	now   func() time.Time
}

// NewAppender makes an appender.
func NewAppender(core Core, files Files, now func() time.Time) *Appender {
	return &Appender{core: core, files: files, now: now}
}

// Append is rows for a table, as it was when it was loaded.
type Append struct {
	Table   models.TableIdent
	Base    *metadata.Document
	Parts   []Part            // without rows they are left out
	Summary map[string]string // added to the snapshot's
	// Unordered says that the rows are not in the order of the table: no file claims that it is sorted.
	Unordered bool
}

// Part is the rows of one data file, in the order of the table if it has one and the append is not unordered.
type Part struct {
	Partition map[int]any // value of each partition field by its id, as Go's manifests have them
	Rows      arrow.RecordBatch
}

// Append writes the rows and commits them as one snapshot after the head of Base, and gives its id; 0 when there are no rows.
// fault.Conflict: the table has another head by now, and nothing was appended.
func (a *Appender) Append(ctx context.Context, caller policy.Caller, cat models.Catalog, in Append) (int64, error) {
	w, err := a.newWriting(ctx, in)
	if err != nil {
		return 0, err
	}
	if err := w.writeParts(); err != nil || len(w.entries) == 0 {
		w.undo(ctx, err)
		return 0, err
	}
	updates, requirements, err := w.commit()
	if err == nil {
		_, err = a.core.CommitTable(ctx, caller, cat, catalog.CommitInput{Table: in.Table, Requirements: requirements, Updates: updates})
	}
	if err != nil {
		w.undo(ctx, err)
		return 0, err
	}
	return w.id, nil
}

// writing is one append under way.
type writing struct {
	*Appender
	ctx     context.Context
	in      Append
	layout  *layout
	id      int64
	head    *int64
	written []string // files, to be removed if it fails
	entries []iceberg.ManifestEntry
	rows    int64
	bytes   int64
}

func (a *Appender) newWriting(ctx context.Context, in Append) (*writing, error) {
	l, err := layoutOf(in.Base)
	if err != nil {
		return nil, err
	}
	if in.Unordered {
		l.order = 0
	}
	w := &writing{Appender: a, ctx: ctx, in: in, layout: l, id: rand.Int64N(1<<62) + 1} //nolint:gosec // no secret
	if head, ok := in.Base.CurrentSnapshotID(); ok {
		w.head = &head
	}
	return w, nil
}

func (w *writing) writeParts() error {
	for _, part := range w.in.Parts {
		if part.Rows.NumRows() == 0 {
			continue
		}
		if err := w.writePart(part); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) writePart(part Part) error {
	stats, err := statisticsOf(w.layout, part.Rows)
	if err != nil {
		return err
	}
	data, err := parquetOf(w.layout.arrow, part.Rows)
	if err != nil {
		return err
	}
	location := w.path("write.data.path", "data", "00000-"+strconv.Itoa(len(w.entries))+"-"+uuid.NewString()+".parquet")
	if err := w.create(location, data); err != nil {
		return err
	}
	b, err := iceberg.NewDataFileBuilder(w.layout.spec, iceberg.EntryContentData, location, iceberg.ParquetFile, part.Partition, nil, nil, stats.rows, int64(len(data)))
	if err != nil {
		return err
	}
	b.ValueCounts(stats.values).NullValueCounts(stats.nulls).LowerBoundValues(stats.lower).UpperBoundValues(stats.upper).SortOrderID(w.layout.order)
	w.entries = append(w.entries, iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &w.id, nil, nil, b.Build()))
	w.rows += stats.rows
	w.bytes += int64(len(data))
	return nil
}

func parquetOf(schema *arrow.Schema, rows arrow.RecordBatch) ([]byte, error) {
	var buf bytes.Buffer
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithStats(true), parquet.WithVersion(parquet.V2_LATEST))
	out, err := pqarrow.NewFileWriter(schema, &buf, properties, pqarrow.NewArrowWriterProperties())
	if err != nil {
		return nil, err
	}
	if err := errors.Join(out.Write(rows), out.Close()); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// path names a file in the folder that a property of the table says, or in the one below its location.
func (w *writing) path(property, folder, name string) string {
	base := w.in.Base.Properties()[property]
	if base == "" {
		base = strings.TrimRight(w.in.Base.Location(), "/") + "/" + folder
	}
	return strings.TrimRight(base, "/") + "/" + name
}

func (w *writing) create(location string, data []byte) error {
	if err := w.files.CreateFile(w.ctx, location, data); err != nil {
		return err
	}
	w.written = append(w.written, location)
	return nil
}

// undo removes what was written for a commit that did not happen. Of one whose outcome is not known everything stays.
func (w *writing) undo(ctx context.Context, err error) {
	if err == nil || fault.Is(err, fault.UnknownState) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	for _, location := range w.written {
		if w.files.DeleteFile(ctx, location) != nil {
			return
		}
	}
}

// commit writes manifest and list and gives the request that makes the snapshot main's head.
func (w *writing) commit() ([]metadata.Update, []metadata.Requirement, error) {
	doc := w.in.Base
	manifests, err := w.manifests()
	if err != nil {
		return nil, nil, err
	}
	sequence := doc.LastSequenceNumber() + 1
	next, _ := doc.NextRowID()
	var list bytes.Buffer
	if err := iceberg.WriteManifestList(doc.FormatVersion(), &list, w.id, w.head, &sequence, next, manifests); err != nil {
		return nil, nil, err
	}
	location := w.path("write.metadata.path", "metadata", fmt.Sprintf("snap-%d-1-%s.avro", w.id, uuid.NewString()))
	if err := w.create(location, list.Bytes()); err != nil {
		return nil, nil, err
	}
	snapshot := map[string]any{
		"snapshot-id": w.id, "timestamp-ms": w.now().UnixMilli(), "manifest-list": location, "schema-id": w.layout.schema.ID, "summary": w.summary(),
	}
	if doc.FormatVersion() >= 2 {
		snapshot["sequence-number"] = sequence
	}
	if doc.FormatVersion() >= 3 {
		snapshot["first-row-id"], snapshot["added-rows"] = next, w.rows
	}
	if w.head != nil {
		snapshot["parent-snapshot-id"] = *w.head
	}
	return decoded([]any{
		map[string]any{"action": "add-snapshot", "snapshot": snapshot},
		map[string]any{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": w.id},
	}, []any{
		map[string]any{"type": "assert-table-uuid", "uuid": doc.UUID()},
		map[string]any{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": w.head},
	})
}

// manifests writes the one of this append and gives it before those of the head.
func (w *writing) manifests() ([]iceberg.ManifestFile, error) {
	var buf bytes.Buffer
	location := w.path("write.metadata.path", "metadata", uuid.NewString()+"-m0.avro")
	added, err := iceberg.WriteManifest(location, &buf, w.in.Base.FormatVersion(), w.layout.spec, w.layout.schema, w.id, w.entries)
	if err != nil {
		return nil, err
	}
	if err := w.create(location, buf.Bytes()); err != nil {
		return nil, err
	}
	if w.head == nil {
		return []iceberg.ManifestFile{added}, nil
	}
	head, ok := w.in.Base.Snapshot(*w.head)
	if !ok || head.ManifestList == "" {
		return nil, fault.New(fault.Unsupported, "The snapshot %d of table %s has no manifest list to append to.", *w.head, w.in.Table)
	}
	raw, err := w.files.ReadFile(w.ctx, head.ManifestList)
	if err != nil {
		return nil, err
	}
	kept, err := iceberg.ReadManifestList(bytes.NewReader(raw))
	return append([]iceberg.ManifestFile{added}, kept...), err
}

// summary counts what was added, and the totals where the parent has them.
func (w *writing) summary() map[string]string {
	added := map[string]int64{"data-files": int64(len(w.entries)), "records": w.rows, "files-size": w.bytes}
	s := map[string]string{"operation": "append"}
	parent := map[string]string{}
	if w.head != nil {
		head, _ := w.in.Base.Snapshot(*w.head)
		parent = head.Summary
	}
	for name, n := range added {
		s["added-"+name] = strconv.FormatInt(n, 10)
		before, err := strconv.ParseInt(parent["total-"+name], 10, 64)
		if w.head == nil || err == nil {
			s["total-"+name] = strconv.FormatInt(before+n, 10)
		}
	}
	for key, value := range w.in.Summary {
		s[key] = value
	}
	return s
}

func decoded(updates, requirements []any) ([]metadata.Update, []metadata.Requirement, error) {
	u, err := raws(updates)
	if err != nil {
		return nil, nil, err
	}
	r, err := raws(requirements)
	if err != nil {
		return nil, nil, err
	}
	us, err := metadata.DecodeUpdates(u)
	if err != nil {
		return nil, nil, err
	}
	rs, err := metadata.DecodeRequirements(r)
	return us, rs, err
}

func raws(values []any) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out[i] = raw
	}
	return out, nil
}
