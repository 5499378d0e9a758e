-- +goose Up
CREATE TABLE views (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    catalog_id        TEXT COLLATE "C" NOT NULL REFERENCES catalogs (id),
    namespace_id      TEXT COLLATE "C" NOT NULL REFERENCES namespaces (id),
    name              TEXT COLLATE "C" NOT NULL,
    view_uuid         TEXT COLLATE "C" NOT NULL,
    location          TEXT COLLATE "C" NOT NULL,
    metadata_location TEXT COLLATE "C" NOT NULL,
    version           BIGINT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    UNIQUE (namespace_id, name)
);
CREATE INDEX views_by_location ON views (catalog_id, location);

-- Tables and views share their names: who has the row has the name.
CREATE TABLE identifiers (
    namespace_id TEXT COLLATE "C" NOT NULL REFERENCES namespaces (id),
    name         TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    entity_id    TEXT COLLATE "C" NOT NULL UNIQUE,
    PRIMARY KEY (namespace_id, name)
);
INSERT INTO identifiers (namespace_id, name, kind, entity_id) SELECT namespace_id, name, 'table', id FROM tables;

-- +goose Down
DROP TABLE identifiers;
DROP TABLE views;
