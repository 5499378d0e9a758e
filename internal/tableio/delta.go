package tableio

import (
	"github.com/apache/iceberg-go/table/dv"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/models"
)

// Delta is a change of a table, as it was when it was loaded: files of rows that come, and rows that go.
type Delta struct {
	Table     models.TableIdent
	Base      *metadata.Document
	Adds      []*Written
	Manifests []ManifestRef // of data files that were written elsewhere
	Removes   []Removal     // of rows that the head of Base has
	Summary   map[string]string
	Write     *models.GovernedWrite // what the commit lands, nil for no governed write
}

// Removal is rows of a data file that go.
type Removal struct {
	File      *scan.DataFile // as the head of the table has it, with its deletes
	Positions []int64        // of live rows, in order
	Deleted   *dv.RoaringPositionBitmap
}

// files is how many data files come.
func (d *Delta) files() (n int) {
	for _, w := range d.Adds {
		n += len(w.DataFiles)
	}
	for _, m := range d.Manifests {
		n += m.Files
	}
	return n
}

// rows is how many rows go.
func (d *Delta) rows() (n int64) {
	for _, r := range d.Removes {
		n += int64(len(r.Positions))
	}
	return n
}

// check refuses what cannot be committed.
func (d *Delta) check() error {
	removed := d.rows()
	switch {
	case removed > 0 && d.Base.FormatVersion() < 2:
		return fault.New(fault.Invalid, "Table %s is of format version 1, which knows no deletes of rows. Upgrade it to version 2 to replace rows, or append.", d.Table)
	case d.files() == 0 && removed == 0:
		return fault.New(fault.Internal, "There is nothing to commit to table %s.", d.Table)
	}
	return nil
}

// operation is what the snapshot does, as engines call it.
func (d *Delta) operation() string {
	switch {
	case d.rows() == 0:
		return "append"
	case d.files() == 0:
		return "delete"
	}
	return "overwrite"
}
