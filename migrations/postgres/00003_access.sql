-- +goose Up
CREATE TABLE principals (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL UNIQUE,
    client_id   TEXT COLLATE "C" NOT NULL,
    secret_hash TEXT COLLATE "C" NOT NULL,
    disabled    BOOLEAN NOT NULL,
    properties  TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX principals_client ON principals (client_id) WHERE client_id <> '';

CREATE TABLE principal_roles (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL UNIQUE,
    properties TEXT COLLATE "C" NOT NULL,
    version    BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE catalog_roles (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id TEXT COLLATE "C" NOT NULL REFERENCES catalogs (id) ON DELETE CASCADE,
    name       TEXT COLLATE "C" NOT NULL,
    properties TEXT COLLATE "C" NOT NULL,
    version    BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (catalog_id, name)
);

CREATE TABLE principal_role_members (
    principal_id      TEXT COLLATE "C" NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
    principal_role_id TEXT COLLATE "C" NOT NULL REFERENCES principal_roles (id) ON DELETE CASCADE,
    PRIMARY KEY (principal_id, principal_role_id)
);
CREATE INDEX principal_role_members_by_role ON principal_role_members (principal_role_id);

CREATE TABLE catalog_role_members (
    principal_role_id TEXT COLLATE "C" NOT NULL REFERENCES principal_roles (id) ON DELETE CASCADE,
    catalog_role_id   TEXT COLLATE "C" NOT NULL REFERENCES catalog_roles (id) ON DELETE CASCADE,
    PRIMARY KEY (principal_role_id, catalog_role_id)
);
CREATE INDEX catalog_role_members_by_role ON catalog_role_members (catalog_role_id);

CREATE TABLE grants (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_role_id TEXT COLLATE "C" NOT NULL REFERENCES catalog_roles (id) ON DELETE CASCADE,
    catalog_id      TEXT COLLATE "C" NOT NULL REFERENCES catalogs (id) ON DELETE CASCADE,
    scope           TEXT COLLATE "C" NOT NULL,
    object_id       TEXT COLLATE "C" NOT NULL,
    privilege       TEXT COLLATE "C" NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    UNIQUE (catalog_role_id, object_id, privilege)
);
CREATE INDEX grants_by_object ON grants (object_id);
CREATE INDEX grants_by_catalog ON grants (catalog_id);

CREATE TABLE tokens (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    hash         TEXT COLLATE "C" NOT NULL UNIQUE,
    hint         TEXT COLLATE "C" NOT NULL,
    principal_id TEXT COLLATE "C" NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
    catalog_id   TEXT COLLATE "C" REFERENCES catalogs (id) ON DELETE CASCADE,
    can_write    BOOLEAN NOT NULL,
    can_govern   BOOLEAN NOT NULL,
    created_by   TEXT COLLATE "C" NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ,
    revoked_at   TIMESTAMPTZ
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
