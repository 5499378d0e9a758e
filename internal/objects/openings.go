package objects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Opening is a folder, all of it, with what keys may do there. Clouds other than S3 make keys of such folders: what is
// closed within one that is open cannot be said there.
type Opening struct {
	At        Location
	Read      bool
	Write     bool // objects that are not there yet
	Overwrite bool
	Delete    bool
}

// Openings gives the folders that an access opens, outermost first, none that lies in another of no fewer rights. A folder
// has the rights that all areas within it have, so that nothing is opened beyond the access; an inner one may have more.
// None is opened by an access without rights. Errors are fault.Unprocessable for an area that is a whole bucket.
func Openings(access models.StorageAccess) ([]Opening, error) {
	all := make([]Opening, 0, len(access.Areas))
	for _, area := range access.Areas {
		at, err := Parse(area.Prefix)
		if err != nil {
			return nil, err
		}
		if at.Key() == "" {
			return nil, fault.New(fault.Unprocessable, "The files of table %s lie in the root of %s. Keys can be made for folders alone: create the table below one.", access.Table, at)
		}
		r := access.Rights
		all = append(all, Opening{At: at, Read: area.Metadata && r.ReadMetadata || !area.Metadata && r.ReadData, Write: r.Write, Overwrite: r.Overwrite, Delete: r.Delete})
	}
	narrowed := make([]Opening, len(all))
	for i, outer := range all {
		for _, inner := range all {
			if Within(outer.At, inner.At) {
				outer = outer.and(inner)
			}
		}
		narrowed[i] = outer
	}
	slices.SortFunc(narrowed, func(a, b Opening) int {
		return cmp.Or(cmp.Compare(len(a.At.key), len(b.At.key)), strings.Compare(a.At.String(), b.At.String()))
	})
	var open []Opening
	for _, o := range narrowed {
		covered := slices.ContainsFunc(open, func(outer Opening) bool { return Within(outer.At, o.At) && o.and(outer) == o })
		if o.opens() && !covered {
			open = append(open, o)
		}
	}
	return open, nil
}

// and keeps the rights that the other has too.
func (o Opening) and(other Opening) Opening {
	o.Read = o.Read && other.Read
	o.Write = o.Write && other.Write
	o.Overwrite = o.Overwrite && other.Overwrite
	o.Delete = o.Delete && other.Delete
	return o
}

func (o Opening) opens() bool { return o.Read || o.Write || o.Overwrite || o.Delete }
