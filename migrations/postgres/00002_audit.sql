-- +goose Up
CREATE TABLE audit_events (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    TEXT COLLATE "C" NOT NULL UNIQUE,
    type        TEXT COLLATE "C" NOT NULL,
    at          TIMESTAMPTZ NOT NULL,
    principal   TEXT COLLATE "C" NOT NULL,
    token_id    TEXT COLLATE "C" NOT NULL,
    catalog     TEXT COLLATE "C" NOT NULL,
    namespace   TEXT COLLATE "C" NOT NULL,
    table_name  TEXT COLLATE "C" NOT NULL,
    table_uuid  TEXT COLLATE "C" NOT NULL,
    snapshot_id BIGINT,
    allowed     BOOLEAN NOT NULL,
    reason      TEXT COLLATE "C" NOT NULL,
    request_id  TEXT COLLATE "C" NOT NULL,
    address     TEXT COLLATE "C" NOT NULL,
    details     TEXT COLLATE "C" NOT NULL,
    dedupe_key  TEXT COLLATE "C",
    -- The sealer fills these once: the row's place, and the chain of hashes.
    seq         BIGINT,
    prev_hash   TEXT COLLATE "C",
    hash        TEXT COLLATE "C"
);
CREATE UNIQUE INDEX audit_events_dedupe ON audit_events (dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE UNIQUE INDEX audit_events_seq ON audit_events (seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_events_by_table ON audit_events (table_uuid, id);
CREATE INDEX audit_events_by_type ON audit_events (type, id);
CREATE INDEX audit_events_by_principal ON audit_events (principal, id);
CREATE INDEX audit_events_by_time ON audit_events USING brin (at);

-- +goose StatementBegin
CREATE FUNCTION audit_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER audit_events_change BEFORE UPDATE OR DELETE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION audit_events_append_only();
CREATE TRIGGER audit_events_insert BEFORE INSERT ON audit_events
    FOR EACH ROW WHEN (NEW.seq IS NOT NULL OR NEW.prev_hash IS NOT NULL OR NEW.hash IS NOT NULL)
    EXECUTE FUNCTION audit_events_append_only();
CREATE TRIGGER audit_events_truncate BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION audit_events_append_only();

-- +goose Down
DROP TABLE audit_events;
DROP FUNCTION audit_events_append_only();
