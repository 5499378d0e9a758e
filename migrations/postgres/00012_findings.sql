-- What governors should look at, and the files of commits as they were, to find out when one is changed.

-- +goose Up
-- Findings outlive their tables, so they do not reference them.
CREATE TABLE findings (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind          TEXT COLLATE "C" NOT NULL,
    severity      TEXT COLLATE "C" NOT NULL,
    catalog_id    TEXT COLLATE "C" NOT NULL,
    catalog_name  TEXT COLLATE "C" NOT NULL,
    table_id      TEXT COLLATE "C" NOT NULL,
    table_uuid    TEXT COLLATE "C" NOT NULL,
    table_name    TEXT COLLATE "C" NOT NULL,
    snapshot_id   BIGINT,
    principal     TEXT COLLATE "C" NOT NULL,
    subject       TEXT COLLATE "C" NOT NULL,
    subject_key   TEXT COLLATE "C" NOT NULL,
    evidence      TEXT COLLATE "C" NOT NULL,
    first_seen_at TIMESTAMPTZ NOT NULL,
    last_seen_at  TIMESTAMPTZ NOT NULL,
    resolved_at   TIMESTAMPTZ,
    resolved_by   TEXT COLLATE "C" NOT NULL,
    note          TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX findings_open ON findings (subject_key, table_id, kind) WHERE resolved_at IS NULL;
CREATE INDEX findings_by_table ON findings (table_id, id);

-- Tables that are dropped keep theirs, because they may come back.
CREATE TABLE file_records (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    table_id    TEXT COLLATE "C" NOT NULL,
    location    TEXT COLLATE "C" NOT NULL,
    snapshot_id BIGINT NOT NULL,
    size        BIGINT NOT NULL,
    etag        TEXT COLLATE "C" NOT NULL,
    modified_at TIMESTAMPTZ,
    recorded_at TIMESTAMPTZ NOT NULL,
    checked_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX file_records_by_check ON file_records (checked_at, id);
CREATE INDEX file_records_by_table ON file_records (table_id);
CREATE INDEX dropped_tables_by_table ON dropped_tables (table_id);

-- +goose Down
DROP INDEX dropped_tables_by_table;
DROP TABLE file_records;
DROP TABLE findings;
