-- +goose Up
CREATE TABLE views (
    id                TEXT NOT NULL PRIMARY KEY,
    catalog_id        TEXT NOT NULL REFERENCES catalogs (id),
    namespace_id      TEXT NOT NULL REFERENCES namespaces (id),
    name              TEXT NOT NULL,
    view_uuid         TEXT NOT NULL,
    location          TEXT NOT NULL,
    metadata_location TEXT NOT NULL,
    version           INTEGER NOT NULL,
    created_at        TIMESTAMP NOT NULL,
    updated_at        TIMESTAMP NOT NULL,
    UNIQUE (namespace_id, name)
);
CREATE INDEX views_by_location ON views (catalog_id, location);

-- Tables and views share their names: who has the row has the name.
CREATE TABLE identifiers (
    namespace_id TEXT NOT NULL REFERENCES namespaces (id),
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL,
    entity_id    TEXT NOT NULL UNIQUE,
    PRIMARY KEY (namespace_id, name)
) WITHOUT ROWID;
INSERT INTO identifiers (namespace_id, name, kind, entity_id) SELECT namespace_id, name, 'table', id FROM tables;

-- +goose Down
DROP TABLE identifiers;
DROP TABLE views;
