-- +goose Up
CREATE TABLE idempotency_keys (
    principal_id    TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    route           TEXT COLLATE "C" NOT NULL,
    request_hash    TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    subject         TEXT COLLATE "C" NOT NULL,
    message         TEXT COLLATE "C" NOT NULL,
    result          TEXT COLLATE "C" NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    expires_at      TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (principal_id, idempotency_key)
);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

-- +goose Down
DROP TABLE idempotency_keys;
