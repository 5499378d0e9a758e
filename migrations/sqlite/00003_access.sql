-- +goose Up
CREATE TABLE principals (
    id          TEXT NOT NULL PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    client_id   TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    disabled    INTEGER NOT NULL,
    properties  TEXT NOT NULL,
    version     INTEGER NOT NULL,
    created_at  TIMESTAMP NOT NULL,
    updated_at  TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX principals_client ON principals (client_id) WHERE client_id <> '';

CREATE TABLE principal_roles (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    properties TEXT NOT NULL,
    version    INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);

CREATE TABLE catalog_roles (
    id         TEXT NOT NULL PRIMARY KEY,
    catalog_id TEXT NOT NULL REFERENCES catalogs (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    properties TEXT NOT NULL,
    version    INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (catalog_id, name)
);

CREATE TABLE principal_role_members (
    principal_id      TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
    principal_role_id TEXT NOT NULL REFERENCES principal_roles (id) ON DELETE CASCADE,
    PRIMARY KEY (principal_id, principal_role_id)
) WITHOUT ROWID;
CREATE INDEX principal_role_members_by_role ON principal_role_members (principal_role_id);

CREATE TABLE catalog_role_members (
    principal_role_id TEXT NOT NULL REFERENCES principal_roles (id) ON DELETE CASCADE,
    catalog_role_id   TEXT NOT NULL REFERENCES catalog_roles (id) ON DELETE CASCADE,
    PRIMARY KEY (principal_role_id, catalog_role_id)
) WITHOUT ROWID;
CREATE INDEX catalog_role_members_by_role ON catalog_role_members (catalog_role_id);

CREATE TABLE grants (
    id              TEXT NOT NULL PRIMARY KEY,
    catalog_role_id TEXT NOT NULL REFERENCES catalog_roles (id) ON DELETE CASCADE,
    catalog_id      TEXT NOT NULL REFERENCES catalogs (id) ON DELETE CASCADE,
    scope           TEXT NOT NULL,
    object_id       TEXT NOT NULL,
    privilege       TEXT NOT NULL,
    created_at      TIMESTAMP NOT NULL,
    UNIQUE (catalog_role_id, object_id, privilege)
);
CREATE INDEX grants_by_object ON grants (object_id);
CREATE INDEX grants_by_catalog ON grants (catalog_id);

CREATE TABLE tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE,
    hint         TEXT NOT NULL,
    principal_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
    catalog_id   TEXT REFERENCES catalogs (id) ON DELETE CASCADE,
    can_write    INTEGER NOT NULL,
    can_govern   INTEGER NOT NULL,
    created_by   TEXT NOT NULL,
    created_at   TIMESTAMP NOT NULL,
    expires_at   TIMESTAMP,
    last_used_at TIMESTAMP,
    revoked_at   TIMESTAMP
);
CREATE INDEX tokens_by_kind ON tokens (kind, id);
CREATE INDEX tokens_by_expiry ON tokens (kind, expires_at);
CREATE INDEX tokens_by_principal ON tokens (principal_id);
CREATE INDEX tokens_by_catalog ON tokens (catalog_id);

-- +goose Down
DROP TABLE tokens;
DROP TABLE grants;
DROP TABLE catalog_role_members;
DROP TABLE principal_role_members;
DROP TABLE catalog_roles;
DROP TABLE principal_roles;
DROP TABLE principals;
