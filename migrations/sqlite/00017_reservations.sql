-- For whose commit the others wait, and until when.

-- +goose Up
ALTER TABLE tables ADD COLUMN reserved_by TEXT NOT NULL DEFAULT '';
ALTER TABLE tables ADD COLUMN reserved_until TIMESTAMP;

-- +goose Down
ALTER TABLE tables DROP COLUMN reserved_until;
ALTER TABLE tables DROP COLUMN reserved_by;
