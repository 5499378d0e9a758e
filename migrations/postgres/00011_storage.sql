-- How catalogs reach stores of their own, what engines write before it is a table, and who was given what opens files.

-- +goose Up
ALTER TABLE catalogs ADD COLUMN storage_secrets BYTEA NOT NULL DEFAULT '';

CREATE TABLE staged_creates (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id   TEXT COLLATE "C" NOT NULL REFERENCES catalogs (id) ON DELETE CASCADE,
    namespace_id TEXT COLLATE "C" NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    name         TEXT COLLATE "C" NOT NULL,
    table_uuid   TEXT COLLATE "C" NOT NULL,
    location     TEXT COLLATE "C" NOT NULL UNIQUE,
    principal    TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL
);
CREATE INDEX staged_creates_by_name ON staged_creates (namespace_id, name);
CREATE INDEX staged_creates_by_expiry ON staged_creates (expires_at);

-- They outlive their tables until they age out, so they do not reference them.
CREATE TABLE storage_accesses (
    table_id  TEXT COLLATE "C" NOT NULL,
    token_id  TEXT COLLATE "C" NOT NULL,
    mode      TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    first_at  TIMESTAMPTZ NOT NULL,
    last_at   TIMESTAMPTZ NOT NULL,
    count     BIGINT NOT NULL,
    PRIMARY KEY (table_id, token_id, mode)
);
CREATE INDEX storage_accesses_by_time ON storage_accesses (last_at);

-- Processes keep how catalogs are stored in memory for as long as the version of access stays.
CREATE TRIGGER catalogs_inserted_version AFTER INSERT OR DELETE OR TRUNCATE ON catalogs
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER catalogs_stored_version AFTER UPDATE OF base_location, allowed_locations, storage, storage_secrets ON catalogs
    FOR EACH ROW WHEN (OLD.base_location <> NEW.base_location OR OLD.allowed_locations <> NEW.allowed_locations
        OR OLD.storage <> NEW.storage OR OLD.storage_secrets <> NEW.storage_secrets)
    EXECUTE FUNCTION access_changed();

-- +goose Down
DROP TRIGGER catalogs_inserted_version ON catalogs;
DROP TRIGGER catalogs_stored_version ON catalogs;
DROP TABLE storage_accesses;
DROP TABLE staged_creates;
ALTER TABLE catalogs DROP COLUMN storage_secrets;
