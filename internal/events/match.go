package events

import "github.com/sluice-data/sluice/models"

// Matches tells whether a filter selects an event. Its Type may be a group, such as "finding.*"; Before and Limit say nothing
// here.
func Matches(f models.AuditFilter, e models.AuditEvent) bool {
	equal := func(want, is string) bool { return want == "" || want == is }
	table := equal(f.TableUUID, e.TableUUID) && (f.TableUUID != "" || equal(f.Table, e.Table))
	return table && equal(f.Catalog, e.Catalog) && equal(f.Principal, e.Principal) && !e.At.Before(f.Since) &&
		(f.Type == "" || e.Type.Matches(string(f.Type)))
}
