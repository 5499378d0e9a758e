package metadata

import (
	"encoding/json"
	"strconv"

	"github.com/sluice-data/sluice/internal/fault"
)

// logEntry says since when a snapshot was current.
type logEntry struct {
	timestamp, snapshot int64
}

func (e logEntry) encode() json.RawMessage {
	return joinMembers([]member{{"timestamp-ms", integer(e.timestamp)}, {"snapshot-id", integer(e.snapshot)}})
}

// logEnd is what an append needs to know of the snapshot log, which may be as long as the table is old.
type logEnd struct {
	timestamp int64 // of the last entry; 0 in an empty log
	end       int   // position after the last entry in the section; 0 in an empty log
}

// readLogEnd reads the end of the snapshot log; nil is an empty one.
func readLogEnd(array json.RawMessage) (logEnd, error) {
	if array == nil {
		return logEnd{}, nil
	}
	var last logEnd
	var value []byte
	ok := eachElement(array, func(v []byte, start int) { value, last.end = v, start+len(v) })
	if !ok {
		return last, fault.New(fault.Invalid, "Cannot parse table metadata: snapshot-log is not an array")
	}
	if last.end > 0 {
		if last.timestamp, ok = int64Of(memberOf(value, "timestamp-ms")); !ok {
			return last, fault.New(fault.Invalid, "Cannot parse table metadata: snapshot-log has an entry without a valid timestamp-ms")
		}
	}
	return last, nil
}

// snapshotLog gives the parts of the new snapshot log. Entries are appended by splicing, unless
// snapshots were removed: then everything up to a gap in the history goes.
func (b *builder) snapshotLog() [][]byte {
	intermediate := func(id int64) bool {
		return b.mainAdded[id] && (!b.v.hasCurrent || id != b.v.current)
	}
	var fresh []json.RawMessage
	var lastTimestamp int64
	for _, e := range b.newLog {
		if !intermediate(e.snapshot) && b.hasSnapshot(e.snapshot) {
			fresh, lastTimestamp = append(fresh, e.encode()), e.timestamp
		}
	}
	var array json.RawMessage
	var end int
	if b.base != nil {
		array, end = b.base.sectionValue("snapshot-log"), b.base.log.end
	}
	if len(b.removed) == 0 {
		parts, starts := appendedArray(array, end, fresh)
		if last := len(fresh) - 1; last >= 0 {
			b.spliced = &logEnd{timestamp: lastTimestamp, end: starts[last] + len(fresh[last])}
		}
		return parts
	}
	var kept []json.RawMessage
	eachElement(array, func(value []byte, _ int) {
		if id, _ := int64Of(memberOf(value, "snapshot-id")); b.hasSnapshot(id) {
			kept = append(kept, value)
		} else {
			kept = nil
		}
	})
	return [][]byte{joinElements(append(kept, fresh...))}
}

// appendedArray splices elements behind end, the position after the last element of array (0 when it
// has none), and gives where each of them starts in the result.
func appendedArray(array json.RawMessage, end int, elements []json.RawMessage) (parts [][]byte, starts []int) {
	comma := []byte{','}
	position := end
	if end > 0 {
		parts = append(parts, array[:end])
	} else {
		parts = append(parts, []byte{'['})
		position = 1
	}
	for i, element := range elements {
		if end > 0 || i > 0 {
			parts = append(parts, comma)
			position++
		}
		starts = append(starts, position)
		parts = append(parts, element)
		position += len(element)
	}
	if end > 0 {
		return append(parts, array[end:]), starts
	}
	return append(parts, []byte{']'}), starts
}

// metadataLog gives the new metadata log with the base's file at its end, bounded by the table's
// property write.metadata.previous-versions-max (at least 1, by default 100).
func (b *builder) metadataLog(previous string) json.RawMessage {
	limit := 100
	if n, err := strconv.Atoi(b.v.properties["write.metadata.previous-versions-max"]); err == nil {
		limit = max(1, n)
	}
	elements, _ := elementsOf(b.base.sectionValue("metadata-log"))
	elements = append(elements, joinMembers([]member{
		{"timestamp-ms", integer(b.base.view.lastUpdated)}, {"metadata-file", quoted(previous)},
	}))
	return joinElements(elements[max(0, len(elements)-limit):])
}

// LogEntry is one entry of the metadata log: an earlier metadata file of the table.
type LogEntry struct {
	TimestampMs int64 // when the file was written: its last-updated-ms
	File        string
}

// MetadataLog gives the earlier metadata files that the document names, oldest first. Entries without a file are left out.
func (d *Document) MetadataLog() []LogEntry {
	var log []LogEntry
	eachElement(d.sectionValue("metadata-log"), func(value []byte, _ int) {
		timestamp, _ := int64Of(memberOf(value, "timestamp-ms"))
		if file, ok := stringOf(memberOf(value, "metadata-file")); ok && file != "" {
			log = append(log, LogEntry{TimestampMs: timestamp, File: file})
		}
	})
	return log
}

// StatisticsFiles gives the locations of the table's statistics and partition statistics files.
func (d *Document) StatisticsFiles() []string {
	var files []string
	for _, name := range [...]string{"statistics", "partition-statistics"} {
		eachElement(d.sectionValue(name), func(value []byte, _ int) {
			if file, ok := stringOf(memberOf(value, "statistics-path")); ok && file != "" {
				files = append(files, file)
			}
		})
	}
	return files
}
