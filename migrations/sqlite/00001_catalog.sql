-- Times are integers: microseconds since 1970 in UTC. Columns that hold one are
-- declared TIMESTAMP, which the driver reads as a time and a STRICT table would refuse.

-- +goose Up
CREATE TABLE catalogs (
    id                   TEXT NOT NULL PRIMARY KEY,
    name                 TEXT NOT NULL UNIQUE,
    base_location        TEXT NOT NULL,
    allowed_locations    TEXT NOT NULL,
    default_write_policy TEXT NOT NULL,
    properties           TEXT NOT NULL,
    version              INTEGER NOT NULL,
    created_at           TIMESTAMP NOT NULL,
    updated_at           TIMESTAMP NOT NULL
);

CREATE TABLE namespaces (
    id                   TEXT NOT NULL PRIMARY KEY,
    catalog_id           TEXT NOT NULL REFERENCES catalogs (id),
    name_key             TEXT NOT NULL,
    parent_key           TEXT NOT NULL,
    default_write_policy TEXT,
    properties           TEXT NOT NULL,
    version              INTEGER NOT NULL,
    created_at           TIMESTAMP NOT NULL,
    updated_at           TIMESTAMP NOT NULL,
    UNIQUE (catalog_id, name_key)
);
CREATE INDEX namespaces_by_parent ON namespaces (catalog_id, parent_key, name_key);

CREATE TABLE tables (
    id                   TEXT NOT NULL PRIMARY KEY,
    catalog_id           TEXT NOT NULL REFERENCES catalogs (id),
    namespace_id         TEXT NOT NULL REFERENCES namespaces (id),
    name                 TEXT NOT NULL,
    table_uuid           TEXT NOT NULL,
    location             TEXT NOT NULL,
    metadata_location    TEXT NOT NULL,
    format_version       INTEGER NOT NULL,
    write_policy         TEXT NOT NULL,
    classification       TEXT NOT NULL,
    identity_columns     TEXT NOT NULL,
    columns              TEXT NOT NULL,
    current_snapshot_id  INTEGER,
    recorded_snapshot_id INTEGER,
    row_count            INTEGER,
    version              INTEGER NOT NULL,
    created_at           TIMESTAMP NOT NULL,
    updated_at           TIMESTAMP NOT NULL,
    UNIQUE (namespace_id, name)
);
CREATE INDEX tables_by_location ON tables (catalog_id, location);
-- Only tables of format version 1 may have no uuid.
CREATE UNIQUE INDEX tables_by_uuid ON tables (table_uuid) WHERE table_uuid <> '';

-- The ledger and the outbox outlive their tables, so they do not reference them.
CREATE TABLE commits (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    catalog_id         TEXT NOT NULL,
    table_id           TEXT NOT NULL,
    table_uuid         TEXT NOT NULL,
    table_name         TEXT NOT NULL,
    snapshot_id        INTEGER NOT NULL,
    parent_snapshot_id INTEGER,
    sequence_number    INTEGER NOT NULL,
    ref                TEXT NOT NULL,
    operation          TEXT NOT NULL,
    summary            TEXT NOT NULL,
    metadata_location  TEXT NOT NULL,
    kind               TEXT NOT NULL,
    writer             TEXT NOT NULL,
    committed_at       TIMESTAMP NOT NULL,
    status             TEXT NOT NULL,
    reconciled_at      TIMESTAMP,
    workflow_id        TEXT NOT NULL,
    added_rows         INTEGER,
    added_files        INTEGER,
    added_bytes        INTEGER,
    row_count_before   INTEGER,
    row_count_after    INTEGER,
    UNIQUE (table_id, snapshot_id)
);
CREATE INDEX commits_by_table ON commits (table_id, id);
CREATE INDEX commits_pending ON commits (table_id, id) WHERE status = 'pending';

CREATE TABLE outbox_events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    catalog_id  TEXT NOT NULL,
    table_id    TEXT NOT NULL,
    table_uuid  TEXT NOT NULL,
    table_name  TEXT NOT NULL,
    snapshot_id INTEGER NOT NULL,
    created_at  TIMESTAMP NOT NULL,
    attempts    INTEGER NOT NULL,
    last_error  TEXT NOT NULL
);

-- +goose Down
DROP TABLE outbox_events;
DROP TABLE commits;
DROP TABLE tables;
DROP TABLE namespaces;
DROP TABLE catalogs;
