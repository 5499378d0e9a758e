-- +goose Up
-- Of tables that are there already it is not known whether they were registered or moved: they count as if.
ALTER TABLE tables ADD COLUMN protected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tables ADD COLUMN foreign_files INTEGER NOT NULL DEFAULT 1;

-- Records of drops outlive their catalogs and tables, so they do not reference them.
CREATE TABLE dropped_tables (
    id                TEXT NOT NULL PRIMARY KEY,
    catalog_id        TEXT NOT NULL,
    table_id          TEXT NOT NULL,
    table_uuid        TEXT NOT NULL,
    namespace_key     TEXT NOT NULL,
    name              TEXT NOT NULL,
    location          TEXT NOT NULL,
    metadata_location TEXT NOT NULL,
    foreign_files     INTEGER NOT NULL,
    holds_location    INTEGER NOT NULL,
    table_row         TEXT NOT NULL,
    state             TEXT NOT NULL,
    dropped_at        TIMESTAMP NOT NULL,
    dropped_by        TEXT NOT NULL,
    purge_requested   INTEGER NOT NULL,
    purge_after       TIMESTAMP,
    changed_at        TIMESTAMP NOT NULL,
    purged_files      INTEGER,
    purged_bytes      INTEGER
);
CREATE INDEX dropped_tables_by_catalog ON dropped_tables (catalog_id, id);
CREATE INDEX dropped_tables_by_uuid ON dropped_tables (table_uuid);
CREATE INDEX dropped_tables_by_location ON dropped_tables (catalog_id, location) WHERE holds_location AND state IN ('dropped', 'purging', 'unregistered');
CREATE INDEX dropped_tables_due ON dropped_tables (id) WHERE state IN ('dropped', 'purging') AND purge_after IS NOT NULL;

-- +goose Down
DROP TABLE dropped_tables;
ALTER TABLE tables DROP COLUMN foreign_files;
ALTER TABLE tables DROP COLUMN protected;
