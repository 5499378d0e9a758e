-- Addresses that audit events are sent to, and what is on its way.

-- +goose Up
CREATE TABLE webhooks (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL UNIQUE,
    url        TEXT COLLATE "C" NOT NULL,
    types      TEXT COLLATE "C" NOT NULL,
    catalog    TEXT COLLATE "C" NOT NULL,
    secret     BYTEA NOT NULL,
    disabled   BOOLEAN NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    cursor     BIGINT NOT NULL
);

CREATE TABLE webhook_deliveries (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook_id   TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event_id     TEXT COLLATE "C" NOT NULL,
    event_seq    BIGINT NOT NULL,
    type         TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    attempts     BIGINT NOT NULL,
    next_at      TIMESTAMPTZ NOT NULL,
    last_error   TEXT COLLATE "C" NOT NULL,
    last_status  BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    delivered_at TIMESTAMPTZ,
    UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (state, created_at);

-- +goose Down
DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
