package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// checkVacant keeps a table from taking a folder in which files are that it did not bring, such as those that another table
// left when it was moved or forgotten: whoever is let at a table's files is let at all below its location, and the other
// table's classification and grants would be the new one's. What the caller itself has staged there it may have written.
func (s *Service) checkVacant(ctx context.Context, caller policy.Caller, cat models.Catalog, location string) error {
	if s.anyLocation || s.presence.files == nil {
		return nil
	}
	normal, err := s.locations.Normalize(location)
	if err != nil {
		return err
	}
	staged, _, err := s.store.StagedAtLocation(ctx, cat.ID, normal, caller.PrincipalID)
	if err == nil && staged.Location == normal {
		return nil
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	taken, err := s.presence.files.HoldsFiles(ctx, normal)
	if err == nil && taken {
		err = fault.New(fault.Forbidden, "There are files at the location %s. Choose a folder without any, or leave the location out; a table that is there already is registered.", location)
	}
	return err
}

// checkMoved holds a changed location to checkVacant; what lies in the table's folder is the table's own.
func (s *Service) checkMoved(ctx context.Context, caller policy.Caller, p *plan) error {
	to := p.next.Location()
	if err := mayAbandon(caller, p.at, p.row, "move"); err != nil || s.locations.Within(p.row.Location, to) {
		return err
	}
	return s.checkVacant(ctx, caller, p.at.cat, to)
}

// checkRegisteredAt wants the metadata file to lie in the table that it describes: otherwise whoever may write a file anywhere
// could name another table's former folder in it.
func (s *Service) checkRegisteredAt(location, file string) error {
	if s.anyLocation || s.locations.Within(location, file) {
		return nil
	}
	return fault.New(fault.Forbidden, "The metadata file %s lies outside the location %s that it gives its table. Register a file below the table's location.", file, location)
}

// mayAbandon refuses to leave a table's files behind to those who may not read them: they could have another table put there,
// or registered from a file that they wrote, which nobody has classified.
func mayAbandon(caller policy.Caller, at tablePlace, row models.Table, what string) error {
	level, _ := highest(row)
	if caller.Clearance.Rank() >= level.Rank() {
		return nil
	}
	return fault.About(fault.Forbidden, fault.Table,
		"Principal %s may not %s table %s: its files are %s, and to leave them behind takes a clearance for that. Ask somebody who has it.",
		caller.Principal, what, at.ref(row.Name), level)
}

// namesMetadata tells whether a folder below a location is called as that of metadata is, or lies in such a one: a table
// that is moved into the folder around it would have data where its metadata is to be.
func (s *Service) namesMetadata(location, folder string) bool {
	root, err := s.locations.Normalize(location)
	if err != nil {
		return true
	}
	path, err := s.locations.Normalize(folder)
	if err != nil {
		return true
	}
	return slices.Contains(strings.Split(strings.TrimPrefix(path, root), "/"), metadataFolderName)
}
