-- Who commits to tables and how far that one is, what a commit did, and what was looked at.

-- +goose Up
ALTER TABLE commits ADD COLUMN writer_id TEXT NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN job TEXT NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN unit TEXT NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN removed_rows INTEGER;
ALTER TABLE commits ADD COLUMN removed_files INTEGER;
ALTER TABLE commits ADD COLUMN removed_bytes INTEGER;
ALTER TABLE commits ADD COLUMN delete_files INTEGER;
ALTER TABLE commits ADD COLUMN partitions TEXT NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN schema_id INTEGER;
CREATE INDEX commits_by_writer ON commits (writer_id, id) WHERE writer_id <> '';
CREATE INDEX commits_by_unit ON commits (unit, writer_id) WHERE unit <> '';
CREATE INDEX commits_by_job ON commits (job, writer_id, id) WHERE unit <> '' AND job <> '';

ALTER TABLE tables ADD COLUMN duplicate_commits TEXT NOT NULL DEFAULT 'audit';
ALTER TABLE tables ADD COLUMN known_column INTEGER NOT NULL DEFAULT 0;

ALTER TABLE findings ADD COLUMN writer_id TEXT NOT NULL DEFAULT '';
CREATE INDEX findings_by_writer ON findings (writer_id, id) WHERE writer_id <> '';
CREATE INDEX findings_open_by_id ON findings (id) WHERE resolved_at IS NULL;

ALTER TABLE file_records ADD COLUMN removed_at TIMESTAMP;
ALTER TABLE file_records ADD COLUMN removed_by INTEGER;
CREATE INDEX file_records_removed ON file_records (removed_at) WHERE removed_at IS NOT NULL;
-- Those that were removed are not looked at, and would be the first of every look.
DROP INDEX file_records_by_check;
CREATE INDEX file_records_by_check ON file_records (checked_at, id) WHERE removed_at IS NULL;

ALTER TABLE outbox_events ADD COLUMN claimed_by TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox_events ADD COLUMN claimed_until TIMESTAMP;

-- What was refused, or failed, is a small part of the audit.
CREATE INDEX audit_events_refused ON audit_events (principal, id) WHERE type IN ('table.commit_denied', 'request.denied', 'request.failed');

-- Writers outlive their tables, which may come back.
CREATE TABLE writers (
    id              TEXT NOT NULL PRIMARY KEY,
    catalog_id      TEXT NOT NULL,
    table_id        TEXT NOT NULL,
    table_uuid      TEXT NOT NULL,
    table_name      TEXT NOT NULL,
    kind            TEXT NOT NULL,
    key             TEXT NOT NULL,
    principal       TEXT NOT NULL,
    engine          TEXT NOT NULL,
    version         TEXT NOT NULL,
    client          TEXT NOT NULL,
    job             TEXT NOT NULL,
    ref             TEXT NOT NULL,
    token_id        TEXT NOT NULL,
    watermark       TEXT NOT NULL,
    valid_to        TIMESTAMP,
    last_commit     INTEGER,
    commits         INTEGER NOT NULL,
    first_commit_at TIMESTAMP,
    last_commit_at  TIMESTAMP,
    intervals       TEXT NOT NULL,
    median          INTEGER NOT NULL,
    spread          INTEGER NOT NULL,
    every           INTEGER NOT NULL,
    state           TEXT NOT NULL,
    retired_at      TIMESTAMP,
    retired_by      TEXT NOT NULL,
    created_at      TIMESTAMP NOT NULL
);
CREATE INDEX writers_by_table ON writers (table_id, id);

CREATE TABLE table_checks (
    table_id   TEXT NOT NULL PRIMARY KEY,
    version    INTEGER NOT NULL,
    stamp      TEXT NOT NULL,
    checked_at TIMESTAMP NOT NULL
);

-- +goose Down
DROP TABLE table_checks;
DROP TABLE writers;
DROP INDEX audit_events_refused;
ALTER TABLE outbox_events DROP COLUMN claimed_until;
ALTER TABLE outbox_events DROP COLUMN claimed_by;
DROP INDEX file_records_by_check;
DELETE FROM file_records WHERE removed_at IS NOT NULL;
CREATE INDEX file_records_by_check ON file_records (checked_at, id);
DROP INDEX file_records_removed;
ALTER TABLE file_records DROP COLUMN removed_by;
ALTER TABLE file_records DROP COLUMN removed_at;
DROP INDEX findings_open_by_id;
DROP INDEX findings_by_writer;
ALTER TABLE findings DROP COLUMN writer_id;
ALTER TABLE tables DROP COLUMN known_column;
ALTER TABLE tables DROP COLUMN duplicate_commits;
DROP INDEX commits_by_job;
DROP INDEX commits_by_unit;
DROP INDEX commits_by_writer;
ALTER TABLE commits DROP COLUMN schema_id;
ALTER TABLE commits DROP COLUMN partitions;
ALTER TABLE commits DROP COLUMN delete_files;
ALTER TABLE commits DROP COLUMN removed_bytes;
ALTER TABLE commits DROP COLUMN removed_files;
ALTER TABLE commits DROP COLUMN removed_rows;
ALTER TABLE commits DROP COLUMN unit;
ALTER TABLE commits DROP COLUMN job;
ALTER TABLE commits DROP COLUMN writer_id;
