package vending

import (
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// area is one of a table's areas, with what may be done in it.
type area struct {
	at       objects.Location
	parent   int  // the place in areas of the innermost one around it, -1 for none
	readable bool // its own objects
	listable bool // its own objects and those of all areas within it
}

// areas are those of one table, each location once, the outer before the inner.
type areas []area

// readAreas leaves out what is no area of an S3 store. Where two areas are at one place it holds data, to which fewer
// have a right.
func readAreas(access models.StorageAccess) areas {
	metadata := map[objects.Location]bool{}
	for _, a := range access.Areas {
		at, err := objects.Parse(a.Prefix)
		if err != nil || !at.IsS3() {
			continue
		}
		seen, known := metadata[at]
		metadata[at] = a.Metadata && (seen || !known)
	}
	all := make(areas, 0, len(metadata))
	for at, isMetadata := range metadata {
		readable := access.Rights.ReadData
		if isMetadata {
			readable = access.Rights.ReadMetadata
		}
		all = append(all, area{at: at, readable: readable})
	}
	// By name, and so the outer first.
	slices.SortFunc(all, func(a, b area) int { return strings.Compare(a.at.String(), b.at.String()) })
	all.relate()
	return all
}

// relate finds each area's parent and whether it may be listed.
func (all areas) relate() {
	for i := range all {
		all[i].parent, all[i].listable = -1, all[i].readable
		for j := range all {
			if i == j {
				continue
			}
			if objects.Within(all[j].at, all[i].at) && (all[i].parent < 0 || len(all[j].at.Key()) > len(all[all[i].parent].at.Key())) {
				all[i].parent = j
			}
			if objects.Within(all[i].at, all[j].at) && !all[j].readable {
				all[i].listable = false
			}
		}
	}
}

// hold tells whether one of the characters is in a key.
func (all areas) hold(characters string) bool {
	return slices.ContainsFunc(all, func(a area) bool { return strings.ContainsAny(a.at.Key(), characters) })
}

// roots gives the areas that lie in no other.
func (all areas) roots() areas {
	return slices.DeleteFunc(slices.Clone(all), func(a area) bool { return a.parent >= 0 })
}

// readingRoots gives the areas that may be read while what is around them may not.
func (all areas) readingRoots() areas {
	return slices.DeleteFunc(slices.Clone(all), func(a area) bool { return !a.readable || a.parent >= 0 && all[a.parent].readable })
}

// hidden gives the areas that may not be read while what is around them may, and whether within one of them there is an
// area that may be read again: a denial cannot be taken back.
func (all areas) hidden() (in areas, broken bool) {
	for _, a := range all {
		if a.readable || a.parent < 0 || !all[a.parent].readable {
			continue
		}
		in = append(in, a)
		for _, other := range all {
			broken = broken || (other.readable && objects.Within(a.at, other.at))
		}
	}
	return in, broken
}
