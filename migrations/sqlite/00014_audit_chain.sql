-- The chain of audit events: signed checkpoints, the state of the sealer, and removal of what is older than the retention.

-- +goose Up
CREATE TABLE audit_checkpoints (
    id        TEXT NOT NULL PRIMARY KEY,
    seq       INTEGER NOT NULL,
    hash      TEXT NOT NULL,
    at        TIMESTAMP NOT NULL,
    pruned    INTEGER NOT NULL,
    key_id    TEXT NOT NULL,
    signature BLOB NOT NULL
);
CREATE INDEX audit_checkpoints_by_seq ON audit_checkpoints (seq);

CREATE TABLE audit_keys (
    id         TEXT NOT NULL PRIMARY KEY,
    public     BLOB NOT NULL,
    private    BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- One row: who changes it holds the chain.
CREATE TABLE audit_states (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    seq          INTEGER NOT NULL,
    hash         TEXT NOT NULL,
    pruned_seq   INTEGER NOT NULL,
    exported_seq INTEGER NOT NULL
);
INSERT INTO audit_states (id, seq, hash, pruned_seq, exported_seq)
    VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000', 0, 0);
CREATE INDEX audit_events_unsealed ON audit_events (id) WHERE seq IS NULL;

-- Events that the state calls pruned may be removed; a signed checkpoint holds the place of what is gone.
DROP TRIGGER audit_events_delete;
-- +goose StatementBegin
CREATE TRIGGER audit_events_delete BEFORE DELETE ON audit_events
WHEN OLD.seq IS NULL OR OLD.seq > (SELECT pruned_seq FROM audit_states WHERE id = 1)
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER audit_events_delete;
-- +goose StatementBegin
CREATE TRIGGER audit_events_delete BEFORE DELETE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;
-- +goose StatementEnd
DROP INDEX audit_events_unsealed;
DROP TABLE audit_states;
DROP TABLE audit_keys;
DROP TABLE audit_checkpoints;
