package policy

// OperationFor gives the operation that one update of a table's metadata is; false for an action that there is not.
func OperationFor(action string) (Operation, bool) {
	switch action {
	case "assign-uuid":
		return AssignTableUUID, true
	case "upgrade-format-version":
		return UpgradeTableFormatVersion, true
	case "add-schema":
		return AddTableSchema, true
	case "set-current-schema":
		return SetTableCurrentSchema, true
	case "add-spec", "set-default-spec":
		return AddTablePartitionSpec, true
	case "remove-partition-specs":
		return RemoveTablePartitionSpecs, true
	case "add-sort-order":
		return AddTableSortOrder, true
	case "set-default-sort-order":
		return SetTableDefaultSortOrder, true
	case "set-location":
		return SetTableLocation, true
	case "remove-schemas", "add-encryption-key", "remove-encryption-key":
		return ChangeTableStructure, true
	}
	return upkeepFor(action)
}

// upkeepFor gives the operation of an update that leaves a table's structure as it is.
func upkeepFor(action string) (Operation, bool) {
	switch action {
	case "add-snapshot":
		return AddTableSnapshot, true
	case "set-snapshot-ref":
		return SetTableSnapshotRef, true
	case "remove-snapshots":
		return RemoveTableSnapshots, true
	case "remove-snapshot-ref":
		return RemoveTableSnapshotRef, true
	case "set-properties":
		return SetTableProperties, true
	case "remove-properties":
		return RemoveTableProperties, true
	case "set-statistics", "set-partition-statistics":
		return SetTableStatistics, true
	case "remove-statistics", "remove-partition-statistics":
		return RemoveTableStatistics, true
	}
	return "", false
}
