package management

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// event is the audit row of a change; catalog is the name of the one that it was in, "" for none. Details hold names,
// and never a secret, a hash of one or the value of a property.
func (s *Service) event(caller policy.Caller, typ models.AuditType, catalog string, details map[string]any) models.AuditEvent {
	return models.AuditEvent{
		EventID: uuid.NewString(), Type: typ, At: s.now(), Principal: caller.Principal, TokenID: caller.TokenID,
		Catalog: catalog, Allowed: true, RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
		Details: models.JSON[map[string]any]{V: details},
	}
}

// notePropertyKeys adds to an event's details which properties are new or other, and which are gone.
func notePropertyKeys(details map[string]any, before, after map[string]string) {
	var set, removed []string
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if old, had := before[key]; !had || old != after[key] {
			set = append(set, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[key]; !has {
			removed = append(removed, key)
		}
	}
	if len(set) > 0 {
		details["propertiesSet"] = set
	}
	if len(removed) > 0 {
		details["propertiesRemoved"] = removed
	}
}

// noteChange adds what a member was and is, where that differs.
func noteChange(details map[string]any, member string, before, after any) {
	if before != after {
		details[member] = map[string]any{"from": before, "to": after}
	}
}
