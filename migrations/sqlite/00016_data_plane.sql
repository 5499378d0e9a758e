-- Governed writes with the audit of their rows, who sees which rows, and what tables inherit.

-- +goose Up
ALTER TABLE tables ADD COLUMN row_filters TEXT NOT NULL DEFAULT '';
ALTER TABLE catalogs ADD COLUMN default_classification TEXT NOT NULL DEFAULT '';
ALTER TABLE namespaces ADD COLUMN default_classification TEXT;

CREATE TABLE governed_writes (
    id                     TEXT NOT NULL PRIMARY KEY,
    catalog_id             TEXT NOT NULL,
    table_id               TEXT NOT NULL,
    table_uuid             TEXT NOT NULL,
    table_name             TEXT NOT NULL,
    snapshot_id            INTEGER NOT NULL,
    principal              TEXT NOT NULL,
    token_id               TEXT NOT NULL,
    request_id             TEXT NOT NULL,
    mode                   TEXT NOT NULL,
    label                  TEXT NOT NULL,
    digest                 TEXT NOT NULL,
    bytes                  INTEGER NOT NULL,
    rows                   INTEGER NOT NULL,
    updated                INTEGER NOT NULL,
    superseded             INTEGER NOT NULL,
    quarantined            INTEGER NOT NULL,
    quarantine_table       TEXT NOT NULL,
    quarantine_snapshot_id INTEGER NOT NULL,
    level                  TEXT NOT NULL,
    levels                 TEXT NOT NULL,
    tags                   TEXT NOT NULL,
    identity_columns       TEXT NOT NULL,
    committed_at           TIMESTAMP NOT NULL
);
CREATE INDEX governed_writes_by_table ON governed_writes (table_id, id);
-- Whether a snapshot is one whose files belong to the platform is asked for every commit that removes files.
CREATE INDEX governed_writes_owned ON governed_writes (table_id, snapshot_id) WHERE mode = 'upsert';

CREATE TABLE row_audit_blocks (
    write_id   TEXT NOT NULL REFERENCES governed_writes (id) ON DELETE CASCADE,
    place      INTEGER NOT NULL,
    table_id   TEXT NOT NULL,
    row_count  INTEGER NOT NULL,
    first_hash BLOB NOT NULL,
    last_hash  BLOB NOT NULL,
    content    BLOB NOT NULL,
    PRIMARY KEY (write_id, place)
);
CREATE INDEX row_audit_blocks_by_table ON row_audit_blocks (table_id, write_id);

CREATE TABLE data_keys (
    purpose    TEXT NOT NULL PRIMARY KEY,
    sealed     BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- +goose Down
DROP TABLE data_keys;
DROP TABLE row_audit_blocks;
DROP TABLE governed_writes;
ALTER TABLE namespaces DROP COLUMN default_classification;
ALTER TABLE catalogs DROP COLUMN default_classification;
ALTER TABLE tables DROP COLUMN row_filters;
