-- +goose Up
-- Reports outlive their tables until they age out, so they do not reference them.
CREATE TABLE metrics_reports (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    catalog_id  TEXT NOT NULL,
    table_id    TEXT NOT NULL,
    table_uuid  TEXT NOT NULL,
    table_name  TEXT NOT NULL,
    type        TEXT NOT NULL,
    snapshot_id INTEGER,
    principal   TEXT NOT NULL,
    client      TEXT NOT NULL,
    reported_at TIMESTAMP NOT NULL,
    report      TEXT NOT NULL
);
CREATE INDEX metrics_reports_by_table ON metrics_reports (table_id, id);
CREATE INDEX metrics_reports_by_time ON metrics_reports (reported_at);

-- +goose Down
DROP TABLE metrics_reports;
