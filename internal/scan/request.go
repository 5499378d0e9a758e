package scan

import (
	"context"
	"encoding/json"
)

// Files reads whole objects by location. An absent one is fault.NotFound.
type Files interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
}

// Request asks for a plan: of one snapshot (main's head when none is named), or of what appends added between two.
type Request struct {
	SnapshotID        *int64
	StartSnapshotID   *int64          // exclusive
	EndSnapshotID     *int64          // inclusive
	Select            []string        // a hint: it changes nothing in the answer
	Filter            json.RawMessage // an expression in either of the protocol's forms; nil for all rows
	IgnoreCase        bool            // of names in the filter and in StatsFields
	UseSnapshotSchema bool            // bind names to the schema of the snapshot instead of the table's current one
	StatsFields       []string        // columns whose statistics are answered; unknown names are left out
	MinRows           int64           // a hint: that many rows are enough for the first page; 0 for none
}

// Plan is a completed plan: its id and its first page.
type Plan struct {
	ID string
	Page
}

// Page is a part of a plan. References in Tasks are positions in DeleteFiles of the same page; PlanTasks are the
// tokens of the parts that are still to be fetched.
type Page struct {
	Tasks       []Task
	DeleteFiles []ContentFile
	PlanTasks   []string
}

// Task is one data file to read.
type Task struct {
	DataFile   ContentFile     `json:"data-file"`
	References []int           `json:"delete-file-references,omitempty"`
	Residual   json.RawMessage `json:"residual-filter,omitempty"` // absent: the whole filter is left to check
}

// ContentFile is a data or delete file as the protocol writes it.
type ContentFile struct {
	SpecID          int               `json:"spec-id"`
	Content         string            `json:"content"` // data, position-deletes, equality-deletes
	FilePath        string            `json:"file-path"`
	FileFormat      string            `json:"file-format"`
	Partition       []json.RawMessage `json:"partition"` // in the order of the spec's fields
	FileSizeInBytes int64             `json:"file-size-in-bytes"`
	RecordCount     int64             `json:"record-count"`
	KeyMetadata     string            `json:"key-metadata,omitempty"` // upper-case hex
	SplitOffsets    []int64           `json:"split-offsets,omitempty"`
	SortOrderID     *int              `json:"sort-order-id,omitempty"`

	FirstRowID         *int64 `json:"first-row-id,omitempty"`
	DataSequenceNumber *int64 `json:"data-sequence-number,omitempty"` // with FirstRowID alone: row lineage needs it
	Stats

	EqualityIDs        []int   `json:"equality-ids,omitempty"`
	ReferencedDataFile *string `json:"referenced-data-file,omitempty"`
	ContentOffset      *int64  `json:"content-offset,omitempty"`
	ContentSizeInBytes *int64  `json:"content-size-in-bytes,omitempty"`
}

// Stats are the statistics of the columns that were asked for.
type Stats struct {
	ColumnSizes     *ByColumn[int64]  `json:"column-sizes,omitempty"`
	ValueCounts     *ByColumn[int64]  `json:"value-counts,omitempty"`
	NullValueCounts *ByColumn[int64]  `json:"null-value-counts,omitempty"`
	NaNValueCounts  *ByColumn[int64]  `json:"nan-value-counts,omitempty"`
	LowerBounds     *ByColumn[string] `json:"lower-bounds,omitempty"` // of Iceberg's binary values, in upper-case hex
	UpperBounds     *ByColumn[string] `json:"upper-bounds,omitempty"`
}

// ByColumn maps field ids to values, in the order of the ids.
type ByColumn[V any] struct {
	Keys   []int `json:"keys"`
	Values []V   `json:"values"`
}
