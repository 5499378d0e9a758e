package activities

// Target names one snapshot of one table whose commit is to be reconciled. It carries references only, no data.
type Target struct {
	CatalogID  string `json:"catalogId"`
	TableID    string `json:"tableId"`
	TableUUID  string `json:"tableUuid"`
	TableName  string `json:"tableName"` // dotted, with the namespace
	SnapshotID int64  `json:"snapshotId,string"`
}

// At is the same table at another snapshot.
func (t Target) At(snapshotID int64) Target {
	t.SnapshotID = snapshotID
	return t
}
