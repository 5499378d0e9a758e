-- The version counts every change of who may do what, whoever makes it: processes keep grants in memory for as long
-- as it stays.

-- +goose Up
CREATE TABLE access_states (
    id      INTEGER NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO access_states (id, version) VALUES (1, 1);

-- +goose StatementBegin
CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER principals_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON principals
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER principal_roles_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON principal_roles
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER principal_role_members_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON principal_role_members
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER catalog_roles_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog_roles
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER catalog_role_members_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog_role_members
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER grants_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON grants
    FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

-- +goose Down
DROP TRIGGER principals_version ON principals;
DROP TRIGGER principal_roles_version ON principal_roles;
DROP TRIGGER principal_role_members_version ON principal_role_members;
DROP TRIGGER catalog_roles_version ON catalog_roles;
DROP TRIGGER catalog_role_members_version ON catalog_role_members;
DROP TRIGGER grants_version ON grants;
DROP FUNCTION access_changed();
DROP TABLE access_states;
