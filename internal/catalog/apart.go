package catalog

import "github.com/sluice-data/sluice/internal/fault"

// checkApart keeps the tables that one transaction creates or moves apart from each other; the store has none of them
// there yet.
func (s *Service) checkApart(plans []*plan) error {
	for i, p := range plans {
		for _, other := range plans[:i] {
			if !p.creates && !p.moves() && !other.creates && !other.moves() {
				continue
			}
			if uuid := canonicalUUID(p.next.UUID()); uuid != "" && uuid == canonicalUUID(other.next.UUID()) {
				return fault.New(fault.Invalid, "The tables %s and %s have the same uuid. Stage each create for a uuid of its own.",
					other.at.name(other.row.Name), p.at.name(p.row.Name))
			}
			a, b := other.next.Location(), p.next.Location()
			if s.locations.Within(a, b) || s.locations.Within(b, a) {
				return locationTaken(b, other.at.name(other.row.Name))
			}
		}
	}
	return nil
}
