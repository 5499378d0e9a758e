-- What the management API keeps beside what there was: rotated secrets, clearance, federated roles, how a catalog's
-- store is reached, tokens of some roles alone, and the keys that access tokens are signed with.

-- +goose Up
ALTER TABLE principals
    ADD COLUMN previous_secret_hash TEXT COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN previous_secret_until TIMESTAMPTZ,
    ADD COLUMN rotation_required BOOLEAN NOT NULL DEFAULT FALSE,
    ADD COLUMN clearance TEXT COLLATE "C" NOT NULL DEFAULT 'internal';
UPDATE principals SET clearance = 'restricted' WHERE name = 'root';
ALTER TABLE principal_roles ADD COLUMN federated BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE catalogs ADD COLUMN storage TEXT COLLATE "C" NOT NULL DEFAULT '{}';
ALTER TABLE tokens ADD COLUMN roles TEXT COLLATE "C" NOT NULL DEFAULT 'null';

CREATE TABLE signing_keys (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    algorithm    TEXT COLLATE "C" NOT NULL,
    public       BYTEA NOT NULL,
    private      BYTEA NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    retires_at   TIMESTAMPTZ NOT NULL,
    forgotten_at TIMESTAMPTZ NOT NULL
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
CREATE FUNCTION granted_object_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM grants WHERE object_id = NEW.id) THEN
        UPDATE access_states SET version = version + 1 WHERE id = 1;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER tokens_revoked_version AFTER UPDATE OF revoked_at OR TRUNCATE ON tokens
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER tables_moved_version AFTER UPDATE OF namespace_id ON tables
    FOR EACH ROW WHEN (OLD.namespace_id <> NEW.namespace_id) EXECUTE FUNCTION granted_object_moved();
CREATE TRIGGER views_moved_version AFTER UPDATE OF namespace_id ON views
    FOR EACH ROW WHEN (OLD.namespace_id <> NEW.namespace_id) EXECUTE FUNCTION granted_object_moved();
CREATE TRIGGER tables_returned_version AFTER INSERT ON tables
    FOR EACH ROW EXECUTE FUNCTION granted_object_moved();
CREATE TRIGGER signing_keys_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON signing_keys
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

-- +goose Down
DROP TRIGGER tokens_revoked_version ON tokens;
DROP TRIGGER tables_moved_version ON tables;
DROP TRIGGER views_moved_version ON views;
DROP TRIGGER tables_returned_version ON tables;
DROP FUNCTION granted_object_moved();
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
ALTER TABLE principals DROP COLUMN clearance, DROP COLUMN rotation_required, DROP COLUMN previous_secret_until, DROP COLUMN previous_secret_hash;
