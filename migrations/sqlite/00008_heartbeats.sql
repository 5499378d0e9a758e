-- +goose Up
CREATE TABLE heartbeats (
    name TEXT NOT NULL PRIMARY KEY,
    at   TIMESTAMP NOT NULL
);

-- +goose Down
DROP TABLE heartbeats;
