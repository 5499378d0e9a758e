-- The chain of audit events: signed checkpoints, the state of the sealer, and removal of what is older than the retention.

-- +goose Up
CREATE TABLE audit_checkpoints (
    id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq       BIGINT NOT NULL,
    hash      TEXT COLLATE "C" NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    pruned    BOOLEAN NOT NULL,
    key_id    TEXT COLLATE "C" NOT NULL,
    signature BYTEA NOT NULL
);
CREATE INDEX audit_checkpoints_by_seq ON audit_checkpoints (seq);

CREATE TABLE audit_keys (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    public     BYTEA NOT NULL,
    private    BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- One row: who changes it holds the chain.
CREATE TABLE audit_states (
    id           BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    seq          BIGINT NOT NULL,
    hash         TEXT COLLATE "C" NOT NULL,
    pruned_seq   BIGINT NOT NULL,
    exported_seq BIGINT NOT NULL
);
INSERT INTO audit_states (id, seq, hash, pruned_seq, exported_seq)
    VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000', 0, 0);
CREATE INDEX audit_events_unsealed ON audit_events (id) WHERE seq IS NULL;

-- Events that the state calls pruned may be removed; a signed checkpoint holds the place of what is gone.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.seq IS NULL AND NEW.prev_hash IS NULL AND NEW.hash IS NULL THEN
            RETURN NEW;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF OLD.seq IS NULL AND OLD.prev_hash IS NULL AND OLD.hash IS NULL
            AND NEW.seq IS NOT NULL AND NEW.hash IS NOT NULL
            AND to_jsonb(NEW) - '{seq,prev_hash,hash}'::text[] = to_jsonb(OLD) - '{seq,prev_hash,hash}'::text[]
        THEN
            RETURN NEW;
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        IF OLD.seq IS NOT NULL AND OLD.seq <= (SELECT pruned_seq FROM audit_states WHERE id = 1) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'audit events are append-only' USING ERRCODE = 'restrict_violation';
END;
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.seq IS NULL AND NEW.prev_hash IS NULL AND NEW.hash IS NULL THEN
            RETURN NEW;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF OLD.seq IS NULL AND OLD.prev_hash IS NULL AND OLD.hash IS NULL
            AND NEW.seq IS NOT NULL AND NEW.hash IS NOT NULL
            AND to_jsonb(NEW) - '{seq,prev_hash,hash}'::text[] = to_jsonb(OLD) - '{seq,prev_hash,hash}'::text[]
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'audit events are append-only' USING ERRCODE = 'restrict_violation';
END;
$$;
-- +goose StatementEnd
DROP INDEX audit_events_unsealed;
DROP TABLE audit_states;
DROP TABLE audit_keys;
DROP TABLE audit_checkpoints;
