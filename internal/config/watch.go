package config

func (c *Config) watchSettings() []Setting {
	w, a, h := &c.Watch, &c.Audit, &c.Webhooks
	return []Setting{
		{Name: "writer-watch-interval", Scope: Governing, Value: duration(&w.Interval), Usage: "time between two looks at the writers: who is late, whose token ends"},
		{Name: "stalled-writer-factor", Value: number(&w.StallFactor), Usage: "a writer without a declared cadence is late after this many times its own"},
		{Name: "stalled-writer-floor", Value: duration(&w.StallFloor), Usage: "no writer without a declared cadence is late sooner than this"},
		{Name: "token-expiry-warning", Scope: Governing, Value: duration(&w.TokenWarning), Usage: "how long before its end the token of a working writer is a finding"},
		{Name: "snapshot-rate-limit", Scope: Governing, Value: number(&w.SnapshotsHourly), Usage: "snapshots of a table within an hour from which on that is a finding"},
		{Name: "small-file-size", Scope: Governing, Value: size(&w.SmallFile), Usage: "average size of the data files that a table gets over a day below which that is a finding"},
		{Name: "equality-delete-limit", Scope: Governing, Value: number(&w.EqualityDeletes), Usage: "live equality delete files of a table from which on that is a finding"},
		{Name: "metadata-size-limit", Scope: Governing, Value: size(&w.MetadataSize), Usage: "size of a table's metadata file from which on that is a finding"},
		{Name: "recount-scan-limit", Scope: Governing, Value: size(&w.ScanLimit), Usage: "how much of data files is read to count one commit exactly where equality deletes apply"},
		{Name: "removed-file-memory", Scope: Governing, Value: duration(&w.FileMemory), Usage: "how long files that were removed from tables are remembered, to notice those that come back"},
		{Name: "audit-checkpoint-interval", Scope: Governing, Value: duration(&a.Checkpoint), Usage: "time between two signed checkpoints of the audit's chain"},
		{Name: "audit-retention", Scope: Governing, Value: duration(&a.Retention), Usage: "age at which audit events are removed, once they are exported where export is on; 0 for never"},
		{Name: "audit-export-interval", Scope: Governing, Value: duration(&a.Export), Usage: "time between two writes of the audit into the table sluice_system.audit; 0 for none"},
		{Name: "audit-export-catalog", Scope: Governing, Value: text(&a.ExportCatalog), Usage: "catalog that gets the table sluice_system.audit (default: the oldest)"},
		{Name: "webhook-private-addresses", Value: boolean(&h.Private), Usage: "webhooks may go to private networks and by plain http"},
		{Name: "webhook-give-up", Scope: Governing, Value: duration(&h.GiveUp), Usage: "how long a delivery is tried before it is dead"},
	}
}
