package maintenance

import (
	"context"
	"strings"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// Table is where a table and its current metadata are.
type Table struct {
	Location         string
	MetadataLocation string
}

// FileSet is a set of locations in their one spelling. A location that is none is in no set.
type FileSet map[string]struct{}

func (f FileSet) add(location objects.Location) { f[location.String()] = struct{}{} }

func (f FileSet) has(location objects.Location) bool {
	_, ok := f[location.String()]
	return ok
}

// contents is what a table's current and logged metadata refers to, but for the entries of the manifests.
type contents struct {
	current   string   // metadata file
	logged    []string // earlier metadata files
	lists     []string
	manifests []reconcile.ManifestFile
	stats     []string
	keepsData bool // gc.enabled=false: the data may be others' too, says the table
	gone      bool // the current metadata file is not there any more, or damaged
}

// files gives everything but the entries of manifests, in an order in which what is still to be found is never deleted
// before: the current metadata file is the last.
func (c *contents) files() []string {
	var out []string
	for _, m := range c.manifests {
		out = append(out, m.Path())
	}
	out = append(out, c.lists...)
	out = append(out, c.stats...)
	out = append(out, c.logged...)
	return append(out, c.current)
}

// collector gathers contents, each file once.
type collector struct {
	reader *reconcile.Reader
	files  Files
	beat   func()
	// missing decides about a file that is gone or cannot be read: an error ends the reading, nil goes on without.
	missing func(error) error

	out  contents
	seen map[string]bool
}

// read reads a table's metadata. missing decides about every file of it that is gone or cannot be read.
func (p *Purger) read(ctx context.Context, t Table, beat func(), missing func(error) error) (contents, error) {
	c := &collector{reader: p.reader, files: p.files, beat: beat, missing: missing, seen: map[string]bool{}}
	c.out.current = t.MetadataLocation
	doc, err := c.document(ctx, t.MetadataLocation)
	if err != nil {
		c.out.gone = true
		return c.out, missing(err)
	}
	c.out.keepsData = strings.EqualFold(doc.Properties()["gc.enabled"], "false")
	if err := c.addDocument(ctx, doc); err != nil {
		return c.out, err
	}
	for _, entry := range doc.MetadataLog() {
		if !c.first(entry.File) || entry.File == t.MetadataLocation {
			continue
		}
		c.out.logged = append(c.out.logged, entry.File)
		logged, err := c.document(ctx, entry.File)
		if err != nil {
			if err = missing(err); err != nil {
				return c.out, err
			}
			continue
		}
		if err := c.addDocument(ctx, logged); err != nil {
			return c.out, err
		}
	}
	return c.out, nil
}

func (c *collector) document(ctx context.Context, location string) (*metadata.Document, error) {
	c.beat()
	raw, err := c.files.ReadFile(ctx, location)
	if err != nil {
		return nil, err
	}
	if raw, err = metadata.Decompress(location, raw); err != nil {
		return nil, err
	}
	return metadata.Parse(raw)
}

func (c *collector) addDocument(ctx context.Context, doc *metadata.Document) error {
	for _, file := range doc.StatisticsFiles() {
		if c.first(file) {
			c.out.stats = append(c.out.stats, file)
		}
	}
	for _, id := range doc.SnapshotIDs() {
		snap, _ := doc.Snapshot(id)
		if snap.ManifestList != "" && !c.first(snap.ManifestList) {
			continue
		}
		if err := c.addSnapshot(ctx, snap); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) addSnapshot(ctx context.Context, snap metadata.Snapshot) error {
	c.beat()
	if snap.ManifestList != "" {
		c.out.lists = append(c.out.lists, snap.ManifestList)
	}
	manifests, err := c.reader.Manifests(ctx, snap)
	if err != nil {
		return c.missing(err)
	}
	for _, m := range manifests {
		if c.first(m.Path()) {
			c.out.manifests = append(c.out.manifests, m)
		}
	}
	return nil
}

// first tells whether a location is new, and notes it.
func (c *collector) first(location string) bool {
	if c.seen[location] {
		return false
	}
	c.seen[location] = true
	return true
}
