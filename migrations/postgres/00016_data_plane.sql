-- Governed writes with the audit of their rows, who sees which rows, and what tables inherit.

-- +goose Up
ALTER TABLE tables ADD COLUMN row_filters TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE catalogs ADD COLUMN default_classification TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE namespaces ADD COLUMN default_classification TEXT COLLATE "C";

CREATE TABLE governed_writes (
    id                     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id             TEXT COLLATE "C" NOT NULL,
    table_id               TEXT COLLATE "C" NOT NULL,
    table_uuid             TEXT COLLATE "C" NOT NULL,
    table_name             TEXT COLLATE "C" NOT NULL,
    snapshot_id            BIGINT NOT NULL,
    principal              TEXT COLLATE "C" NOT NULL,
    token_id               TEXT COLLATE "C" NOT NULL,
    request_id             TEXT COLLATE "C" NOT NULL,
    mode                   TEXT COLLATE "C" NOT NULL,
    label                  TEXT COLLATE "C" NOT NULL,
    digest                 TEXT COLLATE "C" NOT NULL,
    bytes                  BIGINT NOT NULL,
    rows                   BIGINT NOT NULL,
    updated                BIGINT NOT NULL,
    superseded             BIGINT NOT NULL,
    quarantined            BIGINT NOT NULL,
    quarantine_table       TEXT COLLATE "C" NOT NULL,
    quarantine_snapshot_id BIGINT NOT NULL,
    level                  TEXT COLLATE "C" NOT NULL,
    levels                 TEXT COLLATE "C" NOT NULL,
    tags                   TEXT COLLATE "C" NOT NULL,
    identity_columns       TEXT COLLATE "C" NOT NULL,
    committed_at           TIMESTAMPTZ NOT NULL
);
CREATE INDEX governed_writes_by_table ON governed_writes (table_id, id);
-- Whether a snapshot is one whose files belong to the platform is asked for every commit that removes files.
CREATE INDEX governed_writes_owned ON governed_writes (table_id, snapshot_id) WHERE mode = 'upsert';

CREATE TABLE row_audit_blocks (
    write_id   TEXT COLLATE "C" NOT NULL REFERENCES governed_writes (id) ON DELETE CASCADE,
    place      BIGINT NOT NULL,
    table_id   TEXT COLLATE "C" NOT NULL,
    row_count  BIGINT NOT NULL,
    first_hash BYTEA NOT NULL,
    last_hash  BYTEA NOT NULL,
    content    BYTEA NOT NULL,
    PRIMARY KEY (write_id, place)
);
CREATE INDEX row_audit_blocks_by_table ON row_audit_blocks (table_id, write_id);

CREATE TABLE data_keys (
    purpose    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sealed     BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE data_keys;
DROP TABLE row_audit_blocks;
DROP TABLE governed_writes;
ALTER TABLE namespaces DROP COLUMN default_classification;
ALTER TABLE catalogs DROP COLUMN default_classification;
ALTER TABLE tables DROP COLUMN row_filters;
