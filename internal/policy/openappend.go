package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/models"
)

// governed is governed_only: nothing from outside. The one exception is a commit that creates a table and brings no
// data: that is what TABLE_CREATE is for, and the create route asks no policy either.
func governed(a Attempt) *refusal {
	if !a.Change.CreatesTable {
		return &refusal{
			RulePolicy, "comes from an engine, and engines may not commit to it",
			capital(a.openTo(models.OpenAppend)) + ".",
		}
	}
	if len(a.Change.Snapshots) == 0 && len(a.Change.RefMoves) == 0 {
		return nil
	}
	if a.Change.Registers {
		return &refusal{
			RulePolicy, "registers it with data, and engines may not bring data to it",
			"Ask a data steward to set the namespace's default write policy to open_append first. A table that Sluice had before keeps " +
				"its own policy: register it as it was last, open it, and register this file over it.",
		}
	}
	return &refusal{
		RulePolicy, "creates it with data, and engines may not commit to it",
		"Create the table empty, or " + a.openTo(models.OpenAppend) + ".",
	}
}

// onlyAppends is a refusal under open_append.
func onlyAppends(a Attempt, format string, args ...any) *refusal {
	return &refusal{
		RulePolicy, fmt.Sprintf(format, args...),
		"Only appends are allowed; " + a.openTo(models.OpenFull) + ", or to make this change.",
	}
}

func replacedTable(a Attempt) *refusal {
	if !a.Change.ReplacesTable {
		return nil
	}
	return onlyAppends(a, "replaces the table (create or replace)")
}

// notAppended judges every added snapshot by itself, by what its manifests show. What the client calls it matters as
// well: streaming readers stop at or skip an overwrite, whatever it holds. Only the first snapshot of a new table may
// be called anything.
func notAppended(a Attempt) *refusal {
	for _, s := range a.Change.Snapshots {
		if !s.Append {
			why := s.NotAppend
			if why == "" {
				why = "it could not be verified as an append"
			}
			return onlyAppends(a, "%s (snapshot %d: %s)", verb(s.Operation), s.ID, why)
		}
		first := s.FirstOfCreate && a.Change.CreatesTable
		if s.Operation != "append" && s.Operation != "" && !first {
			return onlyAppends(a, "%s (snapshot %d: its summary says operation %s)", verb(s.Operation), s.ID, s.Operation)
		}
	}
	return nil
}

func verb(operation string) string {
	switch operation {
	case "delete":
		return "deletes"
	case "replace":
		return "rewrites files"
	case "append":
		return "claims to append and does not"
	}
	return "overwrites"
}

// movedRef lets branches go forward over verified appends and new refs be made; nothing else.
func movedRef(a Attempt) *refusal {
	for _, m := range a.Change.RefMoves {
		switch {
		case m.Tag:
			return onlyAppends(a, "moves the tag %s", m.Ref)
		case !m.Forward:
			return onlyAppends(a, "moves %s to a snapshot that does not descend from where it was", m.Ref)
		case m.ShortensRetention:
			return onlyAppends(a, "shortens the retention of %s, so that its snapshots could be expired", m.Ref)
		}
		for _, id := range m.Gains {
			if !hasFacts(a.Change.Snapshots, id) {
				return onlyAppends(a, "moves %s over snapshot %d, which could not be verified as an append", m.Ref, id)
			}
		}
	}
	return nil
}

func hasFacts(snapshots []SnapshotFacts, id int64) bool {
	return slices.ContainsFunc(snapshots, func(s SnapshotFacts) bool { return s.ID == id })
}

func removedHistory(a Attempt) *refusal {
	if a.Change.RemovedSnapshots > 0 {
		return onlyAppends(a, "removes %d snapshots", a.Change.RemovedSnapshots)
	}
	if len(a.Change.RemovedRefs) > 0 {
		return onlyAppends(a, "removes the ref %s", a.Change.RemovedRefs[0])
	}
	return nil
}

func changedColumn(a Attempt) *refusal {
	for _, c := range a.Change.Columns {
		if a.Change.CreatesTable {
			break
		}
		if !c.Additive {
			return onlyAppends(a, "%s column %s", c.What, c.Column)
		}
		if p := a.missing(AddTableSchema); p != "" {
			return lacks(a, fmt.Sprintf("%s column %s", c.What, c.Column), p)
		}
	}
	return nil
}

// changedStructure does not judge a new table: its creator chooses what it is.
func changedStructure(a Attempt) *refusal {
	c := a.Change
	if c.CreatesTable {
		return nil
	}
	for _, s := range []struct {
		changed bool
		does    string
	}{
		{c.SpecChanged, "changes the partitioning"},
		{c.SortOrderChanged, "changes the sort order"},
		{c.LocationChanged, "changes the table's location"},
		{c.FormatUpgraded || slices.Contains(c.PropertiesSet, "format-version"), "upgrades the format version"},
		{c.SchemasRemoved, "removes schemas"},
		{c.EncryptionKeys, "changes encryption keys"},
	} {
		if s.changed {
			return onlyAppends(a, "%s", s.does)
		}
	}
	return nil
}

// guardedProperty refuses properties that say where files go or when history is removed. A new table may have them.
func guardedProperty(a Attempt) *refusal {
	if a.Change.CreatesTable {
		return nil
	}
	for _, key := range slices.Concat(a.Change.PropertiesSet, a.Change.PropertiesGone) {
		if guarded(key) {
			return onlyAppends(a, "changes the property %s", key)
		}
	}
	return nil
}

// guarded matches write.*path, gc.* and history.*; the location provider chooses paths as well, and encryption.* belongs
// to the encryption keys.
func guarded(key string) bool {
	return strings.HasPrefix(key, "write.") && strings.HasSuffix(key, "path") || key == "write.location-provider.impl" ||
		strings.HasPrefix(key, "gc.") || strings.HasPrefix(key, "history.") || strings.HasPrefix(key, "encryption.")
}
