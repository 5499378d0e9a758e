-- Who commits to tables and how far that one is, what a commit did, and what was looked at.

-- +goose Up
ALTER TABLE commits ADD COLUMN writer_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN job TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN unit TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN removed_rows BIGINT;
ALTER TABLE commits ADD COLUMN removed_files BIGINT;
ALTER TABLE commits ADD COLUMN removed_bytes BIGINT;
ALTER TABLE commits ADD COLUMN delete_files BIGINT;
ALTER TABLE commits ADD COLUMN partitions TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE commits ADD COLUMN schema_id BIGINT;
CREATE INDEX commits_by_writer ON commits (writer_id, id) WHERE writer_id <> '';
CREATE INDEX commits_by_unit ON commits (unit, writer_id) WHERE unit <> '';
CREATE INDEX commits_by_job ON commits (job, writer_id, id) WHERE unit <> '' AND job <> '';

ALTER TABLE tables ADD COLUMN duplicate_commits TEXT COLLATE "C" NOT NULL DEFAULT 'audit';
ALTER TABLE tables ADD COLUMN known_column BIGINT NOT NULL DEFAULT 0;

ALTER TABLE findings ADD COLUMN writer_id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX findings_by_writer ON findings (writer_id, id) WHERE writer_id <> '';
CREATE INDEX findings_open_by_id ON findings (id) WHERE resolved_at IS NULL;

ALTER TABLE file_records ADD COLUMN removed_at TIMESTAMPTZ;
ALTER TABLE file_records ADD COLUMN removed_by BIGINT;
CREATE INDEX file_records_removed ON file_records (removed_at) WHERE removed_at IS NOT NULL;
-- Those that were removed are not looked at, and would be the first of every look.
DROP INDEX file_records_by_check;
CREATE INDEX file_records_by_check ON file_records (checked_at, id) WHERE removed_at IS NULL;

ALTER TABLE outbox_events ADD COLUMN claimed_by TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE outbox_events ADD COLUMN claimed_until TIMESTAMPTZ;
ALTER TABLE outbox_events SET (fillfactor = 50); -- a claim stays beside its row, and out of the index

-- What was refused, or failed, is a small part of the audit.
CREATE INDEX audit_events_refused ON audit_events (principal, id) WHERE type IN ('table.commit_denied', 'request.denied', 'request.failed');

-- Writers outlive their tables, which may come back.
CREATE TABLE writers (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id      TEXT COLLATE "C" NOT NULL,
    table_id        TEXT COLLATE "C" NOT NULL,
    table_uuid      TEXT COLLATE "C" NOT NULL,
    table_name      TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    key             TEXT COLLATE "C" NOT NULL,
    principal       TEXT COLLATE "C" NOT NULL,
    engine          TEXT COLLATE "C" NOT NULL,
    version         TEXT COLLATE "C" NOT NULL,
    client          TEXT COLLATE "C" NOT NULL,
    job             TEXT COLLATE "C" NOT NULL,
    ref             TEXT COLLATE "C" NOT NULL,
    token_id        TEXT COLLATE "C" NOT NULL,
    watermark       TEXT COLLATE "C" NOT NULL,
    valid_to        TIMESTAMPTZ,
    last_commit     BIGINT,
    commits         BIGINT NOT NULL,
    first_commit_at TIMESTAMPTZ,
    last_commit_at  TIMESTAMPTZ,
    intervals       TEXT COLLATE "C" NOT NULL,
    median          BIGINT NOT NULL,
    spread          BIGINT NOT NULL,
    every           BIGINT NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    retired_at      TIMESTAMPTZ,
    retired_by      TEXT COLLATE "C" NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL
);
CREATE INDEX writers_by_table ON writers (table_id, id);

CREATE TABLE table_checks (
    table_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version    BIGINT NOT NULL,
    stamp      TEXT COLLATE "C" NOT NULL,
    checked_at TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE table_checks;
DROP TABLE writers;
DROP INDEX audit_events_refused;
ALTER TABLE outbox_events RESET (fillfactor);
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
