package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// question is what decides about the caller's rights on a table's files.
func question(caller policy.Caller, at tablePlace, row models.Table) policy.StorageQuestion {
	path := at.tablePath(row.ID)
	q := policy.StorageQuestion{
		Policy: row.WritePolicy, ReadOnly: caller.ReadOnly, Clearance: caller.Clearance,
		ReadData:  caller.May(policy.LoadTableWithReadDelegation, path),
		WriteData: caller.May(policy.LoadTableWithWriteDelegation, path),
		Steward:   !caller.EngineToken && caller.May(policy.CommitAsSteward, path),
	}
	q.Highest, _ = highest(row)
	_, whole := policy.RowFilterFor(caller.RoleNames, row.RowFilters.V)
	q.Filtered = !whole
	return q
}

// highest gives the most sensitive level in a table, and the column that has it if the table itself does not. An unknown
// level is the highest of all.
func highest(row models.Table) (level models.Classification, column string) {
	level = known(row.Classification)
	for _, name := range slices.Sorted(maps.Keys(row.Columns.V)) {
		of := row.Columns.V[name].Sensitivity
		if of == "" {
			continue
		}
		if of = known(of); of.Rank() > level.Rank() {
			level, column = of, name
		}
	}
	return level, column
}

func known(level models.Classification) models.Classification {
	if level.Rank() < 0 {
		return models.Restricted
	}
	return level
}

// tooSensitive says why the caller, who may read the table's data, may not read its files, and the way that is left: the
// governed query leaves out and masks what the caller may not see.
func tooSensitive(caller policy.Caller, at tablePlace, row models.Table) error {
	if question(caller, at, row).Filtered {
		return fault.About(fault.Forbidden, fault.Table,
			"Table %s has row filters, so that principal %s may not read its files, which have all rows. Read it through the governed query, which gives the rows that you may see: POST /data/v1/tables/%s/query.",
			at.ref(row.Name), caller.Principal, at.ref(row.Name))
	}
	level, column := highest(row)
	because := ""
	if column != "" {
		because = fmt.Sprintf(", because of its column %s", column)
	}
	clearance := caller.Clearance
	if clearance == "" {
		clearance = "none"
	}
	return fault.About(fault.Forbidden, fault.Table,
		"The files of table %s are %s%s, and the clearance of principal %s is %s. Read it through the governed query, which masks what you may not see: POST /data/v1/tables/%s/query.",
		at.ref(row.Name), level, because, caller.Principal, clearance, at.ref(row.Name))
}

// lacksFiles is the refusal of those without any right on a table's files. Who may write data may read it, but for the
// clearance.
func lacksFiles(caller policy.Caller, at tablePlace, row models.Table) error {
	if question(caller, at, row).ReadData {
		return tooSensitive(caller, at, row)
	}
	return fault.New(fault.Forbidden, "Principal %s lacks the privilege %s or %s on table %s.", caller.Principal,
		models.TableReadData, models.TableWriteData, at.name(row.Name))
}

// access says what the caller may do with a table's files, and where they lie: nowhere, when that is not in the catalog.
func (s *Service) access(ctx context.Context, caller policy.Caller, at tablePlace, row models.Table, properties func() (map[string]string, error)) (models.StorageAccess, error) {
	a := models.StorageAccess{Table: at.name(row.Name), Rights: policy.StorageRightsFor(question(caller, at, row))}
	if !a.Rights.Any() {
		return a, nil
	}
	location, err := s.locations.Normalize(row.Location)
	if err == nil {
		_, err = s.insideOf(at.cat, location)
	}
	if err != nil {
		s.log.WarnContext(ctx, "the files of a table lie outside its catalog, so that nobody is let at them", "table", at.ref(row.Name), "location", row.Location)
		a.Rights = models.StorageRights{}
		return a, nil
	}
	a.Areas = []models.StorageArea{{Prefix: location}}
	if a.Rights.ReadData == a.Rights.ReadMetadata {
		return a, nil // what is metadata makes no difference
	}
	set, err := properties()
	if err != nil {
		return a, err
	}
	if folder := metadataFolderOf(location); s.holdsNoData(folder, set) {
		a.Areas = append(a.Areas, models.StorageArea{Prefix: folder, Metadata: true})
	}
	return a, nil
}

// holdsNoData tells whether no property puts data files into a folder.
func (s *Service) holdsNoData(folder string, properties map[string]string) bool {
	for _, key := range dataPathProperties() {
		if path, ok := properties[key]; ok && (s.locations.Within(folder, path) || !s.readable(path)) {
			return false
		}
	}
	return true
}

func (s *Service) readable(location string) bool {
	_, err := s.locations.Normalize(location)
	return err == nil
}

// metadataFolderOf gives the folder of a table's metadata that who may not read its data reads all the same;
// checkPathProperties keeps data out of it. Where a property moves metadata elsewhere, that is not counted in: whoever may
// set the property could name a folder of data.
func metadataFolderOf(location string) string {
	return strings.TrimRight(location, "/") + "/" + metadataFolderName
}

const metadataFolderName = "metadata"
