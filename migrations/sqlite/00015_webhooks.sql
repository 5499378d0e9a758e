-- Addresses that audit events are sent to, and what is on its way.

-- +goose Up
CREATE TABLE webhooks (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    url        TEXT NOT NULL,
    types      TEXT NOT NULL,
    catalog    TEXT NOT NULL,
    secret     BLOB NOT NULL,
    disabled   INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    cursor     INTEGER NOT NULL
);

CREATE TABLE webhook_deliveries (
    id           TEXT NOT NULL PRIMARY KEY,
    webhook_id   TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event_id     TEXT NOT NULL,
    event_seq    INTEGER NOT NULL,
    type         TEXT NOT NULL,
    state        TEXT NOT NULL,
    attempts     INTEGER NOT NULL,
    next_at      TIMESTAMP NOT NULL,
    last_error   TEXT NOT NULL,
    last_status  INTEGER NOT NULL,
    created_at   TIMESTAMP NOT NULL,
    delivered_at TIMESTAMP,
    UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (state, created_at);

-- +goose Down
DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
