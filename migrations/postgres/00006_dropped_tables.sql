-- +goose Up
-- Of tables that are there already it is not known whether they were registered or moved: they count as if.
ALTER TABLE tables ADD COLUMN protected BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE tables ADD COLUMN foreign_files BOOLEAN NOT NULL DEFAULT TRUE;

-- Records of drops outlive their catalogs and tables, so they do not reference them.
CREATE TABLE dropped_tables (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id        TEXT COLLATE "C" NOT NULL,
    table_id          TEXT COLLATE "C" NOT NULL,
    table_uuid        TEXT COLLATE "C" NOT NULL,
    namespace_key     TEXT COLLATE "C" NOT NULL,
    name              TEXT COLLATE "C" NOT NULL,
    location          TEXT COLLATE "C" NOT NULL,
    metadata_location TEXT COLLATE "C" NOT NULL,
    foreign_files     BOOLEAN NOT NULL,
    holds_location    BOOLEAN NOT NULL,
    table_row         TEXT COLLATE "C" NOT NULL,
    state             TEXT COLLATE "C" NOT NULL,
    dropped_at        TIMESTAMPTZ NOT NULL,
    dropped_by        TEXT COLLATE "C" NOT NULL,
    purge_requested   BOOLEAN NOT NULL,
    purge_after       TIMESTAMPTZ,
    changed_at        TIMESTAMPTZ NOT NULL,
    purged_files      BIGINT,
    purged_bytes      BIGINT
);
CREATE INDEX dropped_tables_by_catalog ON dropped_tables (catalog_id, id);
CREATE INDEX dropped_tables_by_uuid ON dropped_tables (table_uuid);
CREATE INDEX dropped_tables_by_location ON dropped_tables (catalog_id, location) WHERE holds_location AND state IN ('dropped', 'purging', 'unregistered');
CREATE INDEX dropped_tables_due ON dropped_tables (id) WHERE state IN ('dropped', 'purging') AND purge_after IS NOT NULL;

-- +goose Down
DROP TABLE dropped_tables;
ALTER TABLE tables DROP COLUMN foreign_files;
ALTER TABLE tables DROP COLUMN protected;
