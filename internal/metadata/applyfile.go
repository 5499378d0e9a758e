package metadata

import (
	"encoding/json"

	"github.com/sluice-data/sluice/internal/fault"
)

// fileList is a section of statistics or keys under change: elements in order, found by what they are about. A removed
// one leaves a gap. Elements that do not say what they are about stay as they are.
type fileList[K comparable] struct {
	elements []json.RawMessage // nil is a gap
	at       map[K][]int       // of several, which no engine writes, all
}

// loadFiles reads a section of the base.
func loadFiles[K comparable](b *builder, section string, keyOf func(json.RawMessage) (K, bool)) *fileList[K] {
	l := &fileList[K]{at: make(map[K][]int)}
	if b.base == nil {
		return l
	}
	l.elements, _ = elementsOf(b.base.sectionValue(section))
	for i, element := range l.elements {
		if key, ok := keyOf(element); ok {
			l.at[key] = append(l.at[key], i)
		}
	}
	return l
}

func (l *fileList[K]) add(key K, element json.RawMessage) {
	l.at[key] = append(l.at[key], len(l.elements))
	l.elements = append(l.elements, element)
}

// remove tells whether there was one.
func (l *fileList[K]) remove(key K) bool {
	positions := l.at[key]
	for _, i := range positions {
		l.elements[i] = nil
	}
	delete(l.at, key)
	return len(positions) > 0
}

// rest gives the elements that are left.
func (l *fileList[K]) rest() []json.RawMessage {
	kept := make([]json.RawMessage, 0, len(l.elements))
	for _, element := range l.elements {
		if element != nil {
			kept = append(kept, element)
		}
	}
	return kept
}

const (
	statisticsName          = "statistics"
	partitionStatisticsName = "partition-statistics"
	keysSection             = "encryption-keys"
)

// statistics gives a section of statistics files, by snapshot.
func (b *builder) statistics(section string) *fileList[int64] {
	if b.files[section] == nil {
		b.files[section] = loadFiles(b, section, func(element json.RawMessage) (int64, bool) {
			return int64Of(memberOf(element, "snapshot-id"))
		})
	}
	return b.files[section]
}

// setStatistics puts a statistics file in the place of that of the same snapshot.
func (b *builder) setStatistics(section string, file json.RawMessage) error {
	id, _ := int64Of(memberOf(file, "snapshot-id"))
	if !b.hasSnapshot(id) {
		return fault.New(fault.Invalid, "Cannot set %s for unknown snapshot: %d", section, id)
	}
	l := b.statistics(section)
	positions := l.at[id]
	for _, i := range positions {
		if sameJSON(l.elements[i], file) {
			return nil
		}
	}
	if len(positions) == 0 {
		l.add(id, file)
	} else {
		l.remove(id)
		l.elements[positions[0]], l.at[id] = file, positions[:1]
	}
	b.noteStatistics(section)
	return nil
}

func (b *builder) removeStatistics(section string, id int64) error {
	if b.statistics(section).remove(id) {
		b.noteStatistics(section)
	}
	return nil
}

func (b *builder) noteStatistics(section string) {
	b.dirty[section] = true
	b.changes.StatisticsChanged = true
}

// encryptionKeys gives the table's keys, by key id.
func (b *builder) encryptionKeys() *fileList[string] {
	if b.keys == nil {
		b.keys = loadFiles(b, keysSection, func(element json.RawMessage) (string, bool) {
			return stringOf(memberOf(element, "key-id"))
		})
	}
	return b.keys
}

// addEncryptionKey adds a key of a v3 table; one of the same id stays as it is.
func (b *builder) addEncryptionKey(key json.RawMessage) error {
	if b.v.formatVersion < 3 {
		return fault.New(fault.Invalid, "Encryption keys are not supported until v3")
	}
	id, ok := stringOf(memberOf(key, "key-id"))
	if !ok || id == "" {
		return fault.New(fault.Invalid, "Invalid encryption key: missing or invalid field key-id")
	}
	if _, ok := stringOf(memberOf(key, "encrypted-key-metadata")); !ok {
		return fault.New(fault.Invalid, "Invalid encryption key: missing or invalid field encrypted-key-metadata")
	}
	if keys := b.encryptionKeys(); len(keys.at[id]) == 0 {
		keys.add(id, key)
		b.noteKeys()
	}
	return nil
}

func (b *builder) removeEncryptionKey(id string) error {
	if b.encryptionKeys().remove(id) {
		b.noteKeys()
	}
	return nil
}

func (b *builder) noteKeys() {
	b.dirty[keysSection] = true
	b.changes.EncryptionKeysChanged = true
}

// loaded gives the elements of a section of files as they are now.
func (b *builder) loaded(section string) []json.RawMessage {
	if section == keysSection {
		return b.encryptionKeys().rest()
	}
	return b.statistics(section).rest()
}
