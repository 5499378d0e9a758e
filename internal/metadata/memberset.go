package metadata

import "encoding/json"

// memberSet is an object under change: members in order, found by key. A removed one leaves a gap.
type memberSet struct {
	members []member // a nil value is a gap
	at      map[string]int
}

func newMemberSet(members []member) *memberSet {
	s := &memberSet{members: members, at: make(map[string]int, len(members))}
	for i, m := range members {
		s.at[m.key] = i
	}
	return s
}

// written gives the value of a member; nil when there is none.
func (s *memberSet) written(key string) json.RawMessage {
	if i, ok := s.at[key]; ok {
		return s.members[i].value
	}
	return nil
}

func (s *memberSet) set(key string, value json.RawMessage) {
	if i, ok := s.at[key]; ok {
		s.members[i].value = value
		return
	}
	s.at[key] = len(s.members)
	s.members = append(s.members, member{key, value})
}

func (s *memberSet) remove(key string) {
	if i, ok := s.at[key]; ok {
		s.members[i].value = nil
		delete(s.at, key)
	}
}

// left gives the members that there are.
func (s *memberSet) left() []member {
	kept := make([]member, 0, len(s.at))
	for _, m := range s.members {
		if m.value != nil {
			kept = append(kept, m)
		}
	}
	return kept
}

// render writes the object.
func (s *memberSet) render() json.RawMessage { return joinMembers(s.left()) }
