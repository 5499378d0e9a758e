package metadata

import (
	"encoding/json"

	"github.com/sluice-data/sluice/internal/fault"
)

// loaded gives the elements of a section of the base or of this commit.
func (b *builder) loaded(section string) []json.RawMessage {
	elements, ok := b.files[section]
	if !ok && b.base != nil {
		elements, _ = elementsOf(b.base.sectionValue(section))
		b.files[section] = elements
	}
	return elements
}

// setStatistics puts a statistics file in the place of that of the same snapshot.
func (b *builder) setStatistics(section string, file json.RawMessage) error {
	id, _ := int64Of(memberOf(file, "snapshot-id"))
	if !b.hasSnapshot(id) {
		return fault.New(fault.Invalid, "Cannot set %s for unknown snapshot: %d", section, id)
	}
	replaced := false
	elements := b.loaded(section)
	kept := make([]json.RawMessage, 0, len(elements)+1)
	for _, element := range elements {
		if have, _ := int64Of(memberOf(element, "snapshot-id")); have != id {
			kept = append(kept, element)
			continue
		}
		if sameJSON(element, file) {
			return nil
		}
		if !replaced {
			kept, replaced = append(kept, file), true
		}
	}
	if !replaced {
		kept = append(kept, file)
	}
	b.storeStatistics(section, kept)
	return nil
}

func (b *builder) removeStatistics(section string, id int64) error {
	b.dropStatistics(section, func(have int64) bool { return have == id })
	return nil
}

func (b *builder) dropStatistics(section string, drop func(snapshot int64) bool) {
	elements := b.loaded(section)
	kept := make([]json.RawMessage, 0, len(elements))
	for _, element := range elements {
		if id, ok := int64Of(memberOf(element, "snapshot-id")); !ok || !drop(id) {
			kept = append(kept, element)
		}
	}
	if len(kept) < len(elements) {
		b.storeStatistics(section, kept)
	}
}

func (b *builder) storeStatistics(section string, elements []json.RawMessage) {
	b.files[section] = elements
	b.dirty[section] = true
	b.changes.StatisticsChanged = true
}

const keysSection = "encryption-keys"

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
	elements := b.loaded(keysSection)
	for _, element := range elements {
		if have, _ := stringOf(memberOf(element, "key-id")); have == id {
			return nil
		}
	}
	b.storeKeys(append(elements[:len(elements):len(elements)], key))
	return nil
}

func (b *builder) removeEncryptionKey(id string) error {
	elements := b.loaded(keysSection)
	kept := make([]json.RawMessage, 0, len(elements))
	for _, element := range elements {
		if have, _ := stringOf(memberOf(element, "key-id")); have != id {
			kept = append(kept, element)
		}
	}
	if len(kept) < len(elements) {
		b.storeKeys(kept)
	}
	return nil
}

func (b *builder) storeKeys(elements []json.RawMessage) {
	b.files[keysSection] = elements
	b.dirty[keysSection] = true
	b.changes.EncryptionKeysChanged = true
}
