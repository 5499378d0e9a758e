-- How catalogs reach stores of their own, what engines write before it is a table, and who was given what opens files.

-- +goose Up
ALTER TABLE catalogs ADD COLUMN storage_secrets BLOB NOT NULL DEFAULT x'';

CREATE TABLE staged_creates (
    id           TEXT NOT NULL PRIMARY KEY,
    catalog_id   TEXT NOT NULL REFERENCES catalogs (id) ON DELETE CASCADE,
    namespace_id TEXT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    table_uuid   TEXT NOT NULL,
    location     TEXT NOT NULL UNIQUE,
    principal    TEXT NOT NULL,
    created_at   TIMESTAMP NOT NULL,
    expires_at   TIMESTAMP NOT NULL
);
CREATE INDEX staged_creates_by_name ON staged_creates (namespace_id, name);
CREATE INDEX staged_creates_by_expiry ON staged_creates (expires_at);

-- They outlive their tables until they age out, so they do not reference them.
CREATE TABLE storage_accesses (
    table_id  TEXT NOT NULL,
    token_id  TEXT NOT NULL,
    mode      TEXT NOT NULL,
    principal TEXT NOT NULL,
    first_at  TIMESTAMP NOT NULL,
    last_at   TIMESTAMP NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY (table_id, token_id, mode)
);
CREATE INDEX storage_accesses_by_time ON storage_accesses (last_at);

-- Processes keep how catalogs are stored in memory for as long as the version of access stays.

-- +goose StatementBegin
CREATE TRIGGER catalogs_insert_version AFTER INSERT ON catalogs BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalogs_stored_version AFTER UPDATE OF base_location, allowed_locations, storage, storage_secrets ON catalogs
WHEN OLD.base_location <> NEW.base_location OR OLD.allowed_locations <> NEW.allowed_locations
    OR OLD.storage <> NEW.storage OR OLD.storage_secrets <> NEW.storage_secrets BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalogs_delete_version AFTER DELETE ON catalogs BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER catalogs_insert_version;
DROP TRIGGER catalogs_stored_version;
DROP TRIGGER catalogs_delete_version;
DROP TABLE storage_accesses;
DROP TABLE staged_creates;
ALTER TABLE catalogs DROP COLUMN storage_secrets;
