-- What governors should look at, and the files of commits as they were, to find out when one is changed.

-- +goose Up
-- Findings outlive their tables, so they do not reference them.
CREATE TABLE findings (
    id            TEXT NOT NULL PRIMARY KEY,
    kind          TEXT NOT NULL,
    severity      TEXT NOT NULL,
    catalog_id    TEXT NOT NULL,
    catalog_name  TEXT NOT NULL,
    table_id      TEXT NOT NULL,
    table_uuid    TEXT NOT NULL,
    table_name    TEXT NOT NULL,
    snapshot_id   INTEGER,
    principal     TEXT NOT NULL,
    subject       TEXT NOT NULL,
    subject_key   TEXT NOT NULL,
    evidence      TEXT NOT NULL,
    first_seen_at TIMESTAMP NOT NULL,
    last_seen_at  TIMESTAMP NOT NULL,
    resolved_at   TIMESTAMP,
    resolved_by   TEXT NOT NULL,
    note          TEXT NOT NULL
);
CREATE UNIQUE INDEX findings_open ON findings (subject_key, table_id, kind) WHERE resolved_at IS NULL;
CREATE INDEX findings_by_table ON findings (table_id, id);

-- Tables that are dropped keep theirs, because they may come back.
CREATE TABLE file_records (
    id          TEXT NOT NULL PRIMARY KEY,
    table_id    TEXT NOT NULL,
    location    TEXT NOT NULL,
    snapshot_id INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    etag        TEXT NOT NULL,
    modified_at TIMESTAMP,
    recorded_at TIMESTAMP NOT NULL,
    checked_at  TIMESTAMP NOT NULL
);
CREATE INDEX file_records_by_check ON file_records (checked_at, id);
CREATE INDEX file_records_by_table ON file_records (table_id);
CREATE INDEX dropped_tables_by_table ON dropped_tables (table_id);

-- +goose Down
DROP INDEX dropped_tables_by_table;
DROP TABLE file_records;
DROP TABLE findings;
