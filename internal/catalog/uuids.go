package catalog

import (
	"context"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// canonicalUUID is the one spelling that rows, workflows and the audit know a table by: metadata may have any case.
func canonicalUUID(uuid string) string { return strings.ToLower(uuid) }

// checkFreeUUID: reconciliations and purges are known by table uuid, so no new table may have one that any table ever had,
// whatever became of that. To bring a table back there are undrop and register. Of two that are created at once with one
// uuid the store refuses the second.
func (s *Service) checkFreeUUID(ctx context.Context, uuid string) error {
	if uuid == "" {
		return nil // a table of format version 1 needs none
	}
	taken, err := s.reports.FindTable(ctx, "", uuid)
	if err != nil {
		return err
	}
	dropped, err := s.store.DroppedTables(ctx, models.DroppedFilter{TableUUID: uuid, Limit: 1})
	if err == nil && len(taken)+len(dropped) > 0 {
		err = uuidTaken(uuid)
	}
	return err
}

func uuidTaken(uuid string) error {
	return fault.New(fault.Invalid, "The table uuid %s belongs to another table. Stage the create again for a fresh one.", uuid)
}
