-- +goose Up
CREATE TABLE heartbeats (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at   TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE heartbeats;
