package models

// SplitWrite names a governed write whose rows lie in chunks, for workers to land together.
type SplitWrite struct {
	WriteID   string // the audit id of the write
	CatalogID string
	TableID   string
	TableUUID string
	TableName string // dotted, with the namespace
	Folder    string // that has the chunks and what is to be done with them, beside those of other writes
	Chunks    int    // from 0 on
}
