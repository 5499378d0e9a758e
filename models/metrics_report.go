package models

import "time"

// MetricsReportType says what an engine reports on. Engines may send types that are not among the constants.
type MetricsReportType string

// The types of the protocol.
const (
	ScanReport   MetricsReportType = "scan-report"
	CommitReport MetricsReportType = "commit-report"
)

// MetricsReport is what an engine measured of one scan or commit, as it said. Only the newest of each table are kept.
type MetricsReport struct {
	ID         int64 `gorm:"primaryKey"`
	CatalogID  string
	TableID    string
	TableUUID  string `gorm:"column:table_uuid"`
	TableName  string // dotted, with the namespace, as of the report
	Type       MetricsReportType
	SnapshotID *int64
	Principal  string
	Client     string // User-Agent or X-Client-Version
	ReportedAt time.Time
	Report     string // JSON as it was sent; without its filter when that was long
}

// MetricsReportFilter selects reports, newest first. Zero fields select all.
type MetricsReportFilter struct {
	CatalogID string
	TableID   string
	Type      MetricsReportType
	Before    int64 // report ids below it; 0 for the newest
	Limit     int
}
