package catalog

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// canonicalUUID is the one spelling that rows, workflows and the audit know a table by: metadata may have any case.
func canonicalUUID(id string) string { return strings.ToLower(id) }

// checkUUID refuses what is no UUID in its usual form: it becomes part of workflow ids, and two spellings of one would be
// two tables. A table of format version 1 may have none.
func checkUUID(id string) error {
	if id == "" || len(id) == 36 && uuid.Validate(id) == nil {
		return nil
	}
	return fault.New(fault.Invalid, "The table-uuid is not a UUID such as 9c12d441-03fe-4693-9a96-a0705ddf69c1.")
}

// checkFreeUUID: reconciliations and purges are known by table uuid, so no new table may have one that any table ever had,
// whatever became of that. To bring a table back there are undrop and register. Of two that are created at once with one
// uuid the store refuses the second.
func (s *Service) checkFreeUUID(ctx context.Context, id string) error {
	if id == "" {
		return nil // a table of format version 1 needs none
	}
	if err := checkUUID(id); err != nil {
		return err
	}
	taken, err := s.reports.FindTable(ctx, "", id)
	if err != nil {
		return err
	}
	dropped, err := s.store.DroppedTables(ctx, models.DroppedFilter{TableUUID: id, Limit: 1})
	if err == nil && len(taken)+len(dropped) > 0 {
		err = uuidTaken(id)
	}
	return err
}

func uuidTaken(id string) error {
	return fault.New(fault.Invalid, "The table uuid %s belongs to another table. Stage the create again for a fresh one.", id)
}
