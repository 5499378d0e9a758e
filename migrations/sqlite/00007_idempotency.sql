-- +goose Up
CREATE TABLE idempotency_keys (
    principal_id    TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    route           TEXT NOT NULL,
    request_hash    TEXT NOT NULL,
    status          TEXT NOT NULL,
    subject         TEXT NOT NULL,
    message         TEXT NOT NULL,
    result          TEXT NOT NULL,
    created_at      TIMESTAMP NOT NULL,
    expires_at      TIMESTAMP NOT NULL,
    PRIMARY KEY (principal_id, idempotency_key)
);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

-- +goose Down
DROP TABLE idempotency_keys;
