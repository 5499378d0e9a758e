-- Text is COLLATE "C" throughout: names sort bytewise, as on SQLite and as page tokens need.

-- +goose Up
CREATE TABLE catalogs (
    id                   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name                 TEXT COLLATE "C" NOT NULL UNIQUE,
    base_location        TEXT COLLATE "C" NOT NULL,
    allowed_locations    TEXT COLLATE "C" NOT NULL,
    default_write_policy TEXT COLLATE "C" NOT NULL,
    properties           TEXT COLLATE "C" NOT NULL,
    version              BIGINT NOT NULL,
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL
);

CREATE TABLE namespaces (
    id                   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id           TEXT COLLATE "C" NOT NULL REFERENCES catalogs (id),
    name_key             TEXT COLLATE "C" NOT NULL,
    parent_key           TEXT COLLATE "C" NOT NULL,
    default_write_policy TEXT COLLATE "C",
    properties           TEXT COLLATE "C" NOT NULL,
    version              BIGINT NOT NULL,
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL,
    UNIQUE (catalog_id, name_key)
);
CREATE INDEX namespaces_by_parent ON namespaces (catalog_id, parent_key, name_key);

CREATE TABLE tables (
    id                   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id           TEXT COLLATE "C" NOT NULL REFERENCES catalogs (id),
    namespace_id         TEXT COLLATE "C" NOT NULL REFERENCES namespaces (id),
    name                 TEXT COLLATE "C" NOT NULL,
    table_uuid           TEXT COLLATE "C" NOT NULL,
    location             TEXT COLLATE "C" NOT NULL,
    metadata_location    TEXT COLLATE "C" NOT NULL,
    format_version       INT NOT NULL,
    write_policy         TEXT COLLATE "C" NOT NULL,
    classification       TEXT COLLATE "C" NOT NULL,
    identity_columns     TEXT COLLATE "C" NOT NULL,
    columns              TEXT COLLATE "C" NOT NULL,
    current_snapshot_id  BIGINT,
    recorded_snapshot_id BIGINT,
    row_count            BIGINT,
    version              BIGINT NOT NULL,
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL,
    UNIQUE (namespace_id, name)
) WITH (fillfactor = 70); -- room for the swaps, none of which changes an indexed column
CREATE INDEX tables_by_location ON tables (catalog_id, location);
-- Only tables of format version 1 may have no uuid.
CREATE UNIQUE INDEX tables_by_uuid ON tables (table_uuid) WHERE table_uuid <> '';

-- The ledger and the outbox outlive their tables, so they do not reference them.
CREATE TABLE commits (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    catalog_id         TEXT COLLATE "C" NOT NULL,
    table_id           TEXT COLLATE "C" NOT NULL,
    table_uuid         TEXT COLLATE "C" NOT NULL,
    table_name         TEXT COLLATE "C" NOT NULL,
    snapshot_id        BIGINT NOT NULL,
    parent_snapshot_id BIGINT,
    sequence_number    BIGINT NOT NULL,
    ref                TEXT COLLATE "C" NOT NULL,
    operation          TEXT COLLATE "C" NOT NULL,
    summary            TEXT COLLATE "C" NOT NULL,
    metadata_location  TEXT COLLATE "C" NOT NULL,
    kind               TEXT COLLATE "C" NOT NULL,
    writer             TEXT COLLATE "C" NOT NULL,
    committed_at       TIMESTAMPTZ NOT NULL,
    status             TEXT COLLATE "C" NOT NULL,
    reconciled_at      TIMESTAMPTZ,
    workflow_id        TEXT COLLATE "C" NOT NULL,
    added_rows         BIGINT,
    added_files        BIGINT,
    added_bytes        BIGINT,
    row_count_before   BIGINT,
    row_count_after    BIGINT,
    UNIQUE (table_id, snapshot_id)
);
CREATE INDEX commits_by_table ON commits (table_id, id);
CREATE INDEX commits_pending ON commits (table_id, id) WHERE status = 'pending';

CREATE TABLE outbox_events (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    catalog_id  TEXT COLLATE "C" NOT NULL,
    table_id    TEXT COLLATE "C" NOT NULL,
    table_uuid  TEXT COLLATE "C" NOT NULL,
    table_name  TEXT COLLATE "C" NOT NULL,
    snapshot_id BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    attempts    INT NOT NULL,
    last_error  TEXT COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000); -- a queue: mostly dead rows

-- +goose Down
DROP TABLE outbox_events;
DROP TABLE commits;
DROP TABLE tables;
DROP TABLE namespaces;
DROP TABLE catalogs;
