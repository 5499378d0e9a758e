package icebergtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// Writer writes a commit's files.
type Writer struct {
	Put func(location string, data []byte) error
	Get func(location string) ([]byte, error)
	// Data has Append write the data files too, with nothing readable in them but of the size that the manifest says.
	Data bool
	// Summary is added to the summaries of its snapshots.
	Summary map[string]string
}

// fileSize is what manifests say of every file, in bytes.
const fileSize = 1000

// Commit is an append ready to be sent.
type Commit struct {
	SnapshotID   int64
	ManifestList string
	DataFiles    []string
	Rows         int64
	Requirements []json.RawMessage
	Updates      []json.RawMessage
}

// Body is the JSON of the commit request.
func (c Commit) Body() []byte {
	return mustJSON(map[string]any{"requirements": c.Requirements, "updates": c.Updates})
}

// Append writes an append to main of files data files with rows rows each: one new manifest, the parent's manifests
// after it in the list, as engines do in a fast append.
func (w Writer) Append(t Table, files int, rows int64) (Commit, error) {
	c := Commit{SnapshotID: rand.Int64N(1<<62) + 1, Rows: int64(files) * rows}
	for range files {
		path := fmt.Sprintf("%s/data/%s.parquet", t.Location, uuid.NewString())
		if w.Data {
			if err := w.Put(path, make([]byte, fileSize)); err != nil {
				return Commit{}, err
			}
		}
		c.DataFiles = append(c.DataFiles, path)
	}
	manifests, err := w.Manifests(t.HeadList)
	if err != nil {
		return Commit{}, err
	}
	added, err := w.Manifest(t, c.SnapshotID, c.DataFiles, rows)
	if err != nil {
		return Commit{}, err
	}
	return w.Finish(t, c, "append", append([]iceberg.ManifestFile{added}, manifests...))
}

// Manifests reads a manifest list; "" is the empty list of a table without snapshots.
func (w Writer) Manifests(list string) ([]iceberg.ManifestFile, error) {
	if list == "" {
		return nil, nil
	}
	raw, err := w.Get(list)
	if err != nil {
		return nil, err
	}
	return iceberg.ReadManifestList(bytes.NewReader(raw))
}

// Manifest writes a manifest that adds the data files.
func (w Writer) Manifest(t Table, snapshotID int64, files []string, rows int64) (iceberg.ManifestFile, error) {
	entries := make([]iceberg.ManifestEntry, len(files))
	for i, path := range files {
		b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, path, iceberg.ParquetFile, nil, nil, nil, rows, fileSize)
		if err != nil {
			return nil, err
		}
		entries[i] = iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshotID, nil, nil, b.Build())
	}
	var buf bytes.Buffer
	location := fmt.Sprintf("%s/metadata/%s-m0.avro", t.Location, uuid.NewString())
	manifest, err := iceberg.WriteManifest(location, &buf, t.FormatVersion, *iceberg.UnpartitionedSpec, t.Schema, snapshotID, entries)
	if err != nil {
		return nil, err
	}
	return manifest, w.Put(location, buf.Bytes())
}

// Finish writes the manifest list and the request that makes it main's head, calling it operation in the summary.
func (w Writer) Finish(t Table, c Commit, operation string, manifests []iceberg.ManifestFile) (Commit, error) {
	sequence := t.LastSequence + 1
	var buf bytes.Buffer
	if err := iceberg.WriteManifestList(t.FormatVersion, &buf, c.SnapshotID, t.Head, &sequence, t.NextRowID, manifests); err != nil {
		return Commit{}, err
	}
	c.ManifestList = fmt.Sprintf("%s/metadata/snap-%d-%s.avro", t.Location, c.SnapshotID, uuid.NewString())
	if err := w.Put(c.ManifestList, buf.Bytes()); err != nil {
		return Commit{}, err
	}
	summary := map[string]string{
		"operation": operation, "added-data-files": fmt.Sprint(len(c.DataFiles)), "added-records": fmt.Sprint(c.Rows),
	}
	maps.Copy(summary, w.Summary)
	snapshot := map[string]any{
		"snapshot-id": c.SnapshotID, "timestamp-ms": time.Now().UnixMilli(), "manifest-list": c.ManifestList, "schema-id": t.SchemaID,
		"summary": summary,
	}
	if t.FormatVersion >= 2 {
		snapshot["sequence-number"] = sequence
	}
	if t.FormatVersion >= 3 {
		snapshot["first-row-id"], snapshot["added-rows"] = t.NextRowID, c.Rows
	}
	if t.Head != nil {
		snapshot["parent-snapshot-id"] = *t.Head
	}
	c.Requirements = []json.RawMessage{
		mustJSON(map[string]any{"type": "assert-table-uuid", "uuid": t.UUID}),
		mustJSON(map[string]any{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": t.Head}),
	}
	c.Updates = []json.RawMessage{
		mustJSON(map[string]any{"action": "add-snapshot", "snapshot": snapshot}),
		mustJSON(map[string]any{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": c.SnapshotID}),
	}
	return c, nil
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers always marshal
	}
	return b
}

// DeleteManifest writes a manifest that adds a position delete file.
func (w Writer) DeleteManifest(t Table, snapshotID int64, path string) (iceberg.ManifestFile, error) {
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentPosDeletes, path, iceberg.ParquetFile, nil, nil, nil, 1, fileSize)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	mw, err := iceberg.NewManifestWriter(t.FormatVersion, &buf, *iceberg.UnpartitionedSpec, t.Schema, snapshotID,
		iceberg.WithManifestWriterContent(iceberg.ManifestContentDeletes))
	if err != nil {
		return nil, err
	}
	if err := mw.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshotID, nil, nil, b.Build())); err != nil {
		return nil, err
	}
	if err := mw.Close(); err != nil {
		return nil, err
	}
	location := fmt.Sprintf("%s/metadata/%s-m0.avro", t.Location, uuid.NewString())
	manifest, err := mw.ToManifestFile(location, int64(buf.Len()), iceberg.WithManifestFileContent(iceberg.ManifestContentDeletes))
	if err != nil {
		return nil, err
	}
	return manifest, w.Put(location, buf.Bytes())
}
