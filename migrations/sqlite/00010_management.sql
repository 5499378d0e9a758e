-- What the management API keeps beside what there was: rotated secrets, clearance, federated roles, how a catalog's
-- store is reached, tokens of some roles alone, and the keys that access tokens are signed with.

-- +goose Up
ALTER TABLE principals ADD COLUMN previous_secret_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE principals ADD COLUMN previous_secret_until TIMESTAMP;
ALTER TABLE principals ADD COLUMN rotation_required INTEGER NOT NULL DEFAULT 0;
ALTER TABLE principals ADD COLUMN clearance TEXT NOT NULL DEFAULT 'internal';
UPDATE principals SET clearance = 'restricted' WHERE name = 'root';
ALTER TABLE principal_roles ADD COLUMN federated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalogs ADD COLUMN storage TEXT NOT NULL DEFAULT '{}';
ALTER TABLE tokens ADD COLUMN roles TEXT NOT NULL DEFAULT 'null';

CREATE TABLE signing_keys (
    id           TEXT NOT NULL PRIMARY KEY,
    algorithm    TEXT NOT NULL,
    public       BLOB NOT NULL,
    private      BLOB NOT NULL,
    created_at   TIMESTAMP NOT NULL,
    retires_at   TIMESTAMP NOT NULL,
    forgotten_at TIMESTAMP NOT NULL
);

-- No two tables overlap, whatever their catalogs.
DROP INDEX tables_by_location;
DROP INDEX views_by_location;
DROP INDEX dropped_tables_by_location;
CREATE INDEX tables_by_any_location ON tables (location);
CREATE INDEX views_by_any_location ON views (location);
CREATE INDEX dropped_tables_by_any_location ON dropped_tables (location) WHERE holds_location AND state IN ('dropped', 'purging', 'unregistered');

-- Who a token is of, and that it is revoked, is kept in memory with the grants; so is what a grant lies in.

-- +goose StatementBegin
CREATE TRIGGER tokens_revoked_version AFTER UPDATE OF revoked_at ON tokens BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER tables_moved_version AFTER UPDATE OF namespace_id ON tables
WHEN OLD.namespace_id <> NEW.namespace_id AND EXISTS (SELECT 1 FROM grants WHERE object_id = OLD.id) BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER views_moved_version AFTER UPDATE OF namespace_id ON views
WHEN OLD.namespace_id <> NEW.namespace_id AND EXISTS (SELECT 1 FROM grants WHERE object_id = OLD.id) BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER tables_returned_version AFTER INSERT ON tables
WHEN EXISTS (SELECT 1 FROM grants WHERE object_id = NEW.id) BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER signing_keys_insert_version AFTER INSERT ON signing_keys BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER signing_keys_update_version AFTER UPDATE ON signing_keys BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER signing_keys_delete_version AFTER DELETE ON signing_keys BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER tokens_revoked_version;
DROP TRIGGER tables_moved_version;
DROP TRIGGER views_moved_version;
DROP TRIGGER tables_returned_version;
DROP TABLE signing_keys;
DROP INDEX tables_by_any_location;
DROP INDEX views_by_any_location;
DROP INDEX dropped_tables_by_any_location;
CREATE INDEX tables_by_location ON tables (catalog_id, location);
CREATE INDEX views_by_location ON views (catalog_id, location);
CREATE INDEX dropped_tables_by_location ON dropped_tables (catalog_id, location) WHERE holds_location AND state IN ('dropped', 'purging', 'unregistered');
ALTER TABLE tokens DROP COLUMN roles;
ALTER TABLE catalogs DROP COLUMN storage;
ALTER TABLE principal_roles DROP COLUMN federated;
ALTER TABLE principals DROP COLUMN clearance;
ALTER TABLE principals DROP COLUMN rotation_required;
ALTER TABLE principals DROP COLUMN previous_secret_until;
ALTER TABLE principals DROP COLUMN previous_secret_hash;
