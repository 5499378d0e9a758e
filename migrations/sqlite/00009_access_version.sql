-- The version counts every change of who may do what, whoever makes it: processes keep grants in memory for as long
-- as it stays.

-- +goose Up
CREATE TABLE access_states (
    id      INTEGER NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL
);
INSERT INTO access_states (id, version) VALUES (1, 1);

-- +goose StatementBegin
CREATE TRIGGER principals_insert_version AFTER INSERT ON principals BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principals_update_version AFTER UPDATE ON principals BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principals_delete_version AFTER DELETE ON principals BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principal_roles_insert_version AFTER INSERT ON principal_roles BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principal_roles_update_version AFTER UPDATE ON principal_roles BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principal_roles_delete_version AFTER DELETE ON principal_roles BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principal_role_members_insert_version AFTER INSERT ON principal_role_members BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principal_role_members_update_version AFTER UPDATE ON principal_role_members BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER principal_role_members_delete_version AFTER DELETE ON principal_role_members BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalog_roles_insert_version AFTER INSERT ON catalog_roles BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalog_roles_update_version AFTER UPDATE ON catalog_roles BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalog_roles_delete_version AFTER DELETE ON catalog_roles BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalog_role_members_insert_version AFTER INSERT ON catalog_role_members BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalog_role_members_update_version AFTER UPDATE ON catalog_role_members BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER catalog_role_members_delete_version AFTER DELETE ON catalog_role_members BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER grants_insert_version AFTER INSERT ON grants BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER grants_update_version AFTER UPDATE ON grants BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER grants_delete_version AFTER DELETE ON grants BEGIN
    UPDATE access_states SET version = version + 1 WHERE id = 1;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER principals_insert_version;
DROP TRIGGER principals_update_version;
DROP TRIGGER principals_delete_version;
DROP TRIGGER principal_roles_insert_version;
DROP TRIGGER principal_roles_update_version;
DROP TRIGGER principal_roles_delete_version;
DROP TRIGGER principal_role_members_insert_version;
DROP TRIGGER principal_role_members_update_version;
DROP TRIGGER principal_role_members_delete_version;
DROP TRIGGER catalog_roles_insert_version;
DROP TRIGGER catalog_roles_update_version;
DROP TRIGGER catalog_roles_delete_version;
DROP TRIGGER catalog_role_members_insert_version;
DROP TRIGGER catalog_role_members_update_version;
DROP TRIGGER catalog_role_members_delete_version;
DROP TRIGGER grants_insert_version;
DROP TRIGGER grants_update_version;
DROP TRIGGER grants_delete_version;
DROP TABLE access_states;
