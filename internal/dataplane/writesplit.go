package dataplane

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// A large append is split: this process decodes, checks, classifies and hashes the rows, because nothing may be stored
// before it is judged, and puts those that land down in chunks; workers turn chunks into data files side by side, which is
// the larger part of the work, and one commit lands all of them. Chunks, and what is to be done with them, lie beside the
// table's data, sealed: whoever may write there can neither read nor change them.

const (
	splitFolder = "_sluice"
	// blocksOfFile is how many blocks of the audit of rows are in a file: some 20 MB.
	blocksOfFile = 64
)

// splitPlan is what is to be done with the chunks of a write.
type splitPlan struct {
	Write       models.GovernedWrite `json:"write"` // without what only its commit decides
	PrincipalID string               `json:"principalId"`
	Origin      policy.Origin        `json:"origin"`
	Fit         fit                  `json:"fit"`
	Front       tableio.ManifestRef  `json:"front"` // of the rows before the first chunk
	Aside       *splitAside          `json:"aside,omitempty"`
	Audit       int                  `json:"audit"`             // files with the audit of rows
	Key         string               `json:"key,omitempty"`     // the Idempotency-Key
	Route       string               `json:"route,omitempty"`   // that the key is for
	Request     string               `json:"request,omitempty"` // hash of what the request says
}

// splitAside is the quarantined rows of a split write.
type splitAside struct {
	UUID     string              `json:"uuid"`
	RowID    string              `json:"rowId"`
	Fit      fit                 `json:"fit"`
	Manifest tableio.ManifestRef `json:"manifest"`
}

// The names of a write's files, after its id.
const (
	planFile   = "plan"
	closedFile = "closed" // nobody may commit the write any more
)

func chunkFile(i int) string    { return fmt.Sprintf("chunk-%05d", i) }
func manifestFile(i int) string { return fmt.Sprintf("manifest-%05d", i) }
func auditFile(i int) string    { return fmt.Sprintf("audit-%05d", i) }

// splitStore keeps the files of a split write.
type splitStore struct {
	s       *Service
	folder  string
	writeID string
}

// location is where a file is. Writes share a folder, so that none leaves an empty one behind.
func (d splitStore) location(name string) string { return d.folder + "/" + d.writeID + "-" + name }

func (d splitStore) associated(name string) []byte {
	return []byte("split write " + d.writeID + " " + name)
}

func (d splitStore) put(ctx context.Context, name string, data []byte) error {
	sealed, err := d.s.Secrets.Seal(data, d.associated(name))
	if err != nil {
		return err
	}
	return d.s.Files.CreateFile(ctx, d.location(name), sealed)
}

func (d splitStore) get(ctx context.Context, name string) ([]byte, error) {
	sealed, err := d.s.Files.ReadFile(ctx, d.location(name))
	if err != nil {
		return nil, err
	}
	data, err := d.s.Secrets.Open(sealed, d.associated(name))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The file %s of a split write is not as it was written: the write cannot land. Send the rows again.", name)
	}
	return data, nil
}

func (d splitStore) remove(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := d.s.Files.DeleteFile(ctx, d.location(name)); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

func (d splitStore) putJSON(ctx context.Context, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return d.put(ctx, name, data)
}

func (d splitStore) getJSON(ctx context.Context, name string, into any) error {
	data, err := d.get(ctx, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// splitWriter puts rows down in chunks.
type splitWriter struct {
	w      *writing
	files  splitStore
	buffer *bytes.Buffer
	out    *ipc.Writer // of the chunk under way; nil: none is
	chunks int         // that are stored
	made   []string    // names of files
	size   int         // of a chunk, in bytes
}

func newSplitWriter(w *writing) *splitWriter {
	folder := strings.TrimRight(w.table.Document.Location(), "/") + "/data/" + splitFolder
	return &splitWriter{
		w: w, files: splitStore{s: w.s, folder: folder, writeID: w.id}, buffer: &bytes.Buffer{}, size: w.s.writes.chunk,
	}
}

func (d *splitWriter) add(ctx context.Context, batch arrow.RecordBatch) error {
	if d.out == nil {
		d.out = ipc.NewWriter(d.buffer, ipc.WithSchema(d.w.schema), ipc.WithZstd())
	}
	if err := d.out.Write(batch); err != nil {
		return err
	}
	if d.buffer.Len() < d.size {
		return nil
	}
	return d.finish(ctx)
}

// finish stores the chunk under way, if there is one.
func (d *splitWriter) finish(ctx context.Context) error {
	if d.out == nil {
		return nil
	}
	if err := d.out.Close(); err != nil {
		return err
	}
	if err := d.put(ctx, chunkFile(d.chunks), d.buffer.Bytes()); err != nil {
		return err
	}
	d.chunks++
	d.out = nil
	d.buffer.Reset()
	return nil
}

func (d *splitWriter) put(ctx context.Context, name string, data []byte) error {
	d.made = append(d.made, name)
	return d.files.put(ctx, name, data)
}

// putAudit stores the audit of all rows, and gives in how many files.
func (d *splitWriter) putAudit(ctx context.Context, blocks []models.RowAuditBlock) (files int, err error) {
	for len(blocks) > 0 {
		n := min(len(blocks), blocksOfFile)
		var buf bytes.Buffer
		if err := gob.NewEncoder(&buf).Encode(blocks[:n]); err != nil {
			return files, err
		}
		if err := d.put(ctx, auditFile(files), buf.Bytes()); err != nil {
			return files, err
		}
		blocks = blocks[n:]
		files++
	}
	return files, nil
}

// abort removes what is stored.
func (d *splitWriter) abort(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookFor)
	defer cancel()
	if err := d.files.remove(ctx, d.made...); err != nil {
		d.w.s.Log.WarnContext(ctx, "chunks of a write stay behind", "folder", d.files.folder, "write", d.w.id, "error", err)
	}
}
