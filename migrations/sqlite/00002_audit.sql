-- +goose Up
CREATE TABLE audit_events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    TEXT NOT NULL UNIQUE,
    type        TEXT NOT NULL,
    at          TIMESTAMP NOT NULL,
    principal   TEXT NOT NULL,
    token_id    TEXT NOT NULL,
    catalog     TEXT NOT NULL,
    namespace   TEXT NOT NULL,
    table_name  TEXT NOT NULL,
    table_uuid  TEXT NOT NULL,
    snapshot_id INTEGER,
    allowed     INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    request_id  TEXT NOT NULL,
    address     TEXT NOT NULL,
    details     TEXT NOT NULL,
    dedupe_key  TEXT,
    -- The sealer fills these once: the row's place, and the chain of hashes.
    seq         INTEGER,
    prev_hash   TEXT,
    hash        TEXT
);
CREATE UNIQUE INDEX audit_events_dedupe ON audit_events (dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE UNIQUE INDEX audit_events_seq ON audit_events (seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_events_by_table ON audit_events (table_uuid, id);
CREATE INDEX audit_events_by_type ON audit_events (type, id);
CREATE INDEX audit_events_by_principal ON audit_events (principal, id);
CREATE INDEX audit_events_by_time ON audit_events (at);

-- +goose StatementBegin
CREATE TRIGGER audit_events_update BEFORE UPDATE ON audit_events
WHEN NOT (
    OLD.seq IS NULL AND OLD.prev_hash IS NULL AND OLD.hash IS NULL
    AND NEW.seq IS NOT NULL AND NEW.hash IS NOT NULL
    AND NEW.id IS OLD.id AND NEW.event_id IS OLD.event_id AND NEW.type IS OLD.type AND NEW.at IS OLD.at
    AND NEW.principal IS OLD.principal AND NEW.token_id IS OLD.token_id AND NEW.catalog IS OLD.catalog
    AND NEW.namespace IS OLD.namespace AND NEW.table_name IS OLD.table_name AND NEW.table_uuid IS OLD.table_uuid
    AND NEW.snapshot_id IS OLD.snapshot_id AND NEW.allowed IS OLD.allowed AND NEW.reason IS OLD.reason
    AND NEW.request_id IS OLD.request_id AND NEW.address IS OLD.address AND NEW.details IS OLD.details
    AND NEW.dedupe_key IS OLD.dedupe_key
)
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_events_delete BEFORE DELETE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_events_insert BEFORE INSERT ON audit_events
WHEN NEW.seq IS NOT NULL OR NEW.prev_hash IS NOT NULL OR NEW.hash IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE audit_events;
