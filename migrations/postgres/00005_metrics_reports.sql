-- +goose Up
-- Reports outlive their tables until they age out, so they do not reference them.
CREATE TABLE metrics_reports (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    catalog_id  TEXT COLLATE "C" NOT NULL,
    table_id    TEXT COLLATE "C" NOT NULL,
    table_uuid  TEXT COLLATE "C" NOT NULL,
    table_name  TEXT COLLATE "C" NOT NULL,
    type        TEXT COLLATE "C" NOT NULL,
    snapshot_id BIGINT,
    principal   TEXT COLLATE "C" NOT NULL,
    client      TEXT COLLATE "C" NOT NULL,
    reported_at TIMESTAMPTZ NOT NULL,
    report      TEXT COLLATE "C" NOT NULL
);
CREATE INDEX metrics_reports_by_table ON metrics_reports (table_id, id);
CREATE INDEX metrics_reports_by_time ON metrics_reports (reported_at);

-- +goose Down
DROP TABLE metrics_reports;
