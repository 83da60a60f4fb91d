-- +goose Up
CREATE TABLE agent_records (
    tenant   TEXT    NOT NULL,
    kind     TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    state    TEXT    NOT NULL,
    tool     TEXT    NOT NULL,
    trace    TEXT    NOT NULL,
    category TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    body     BLOB    NOT NULL,
    PRIMARY KEY (tenant, kind, id)
) STRICT;
CREATE UNIQUE INDEX agent_records_seq ON agent_records (tenant, kind, seq);
CREATE INDEX agent_records_state ON agent_records (tenant, kind, state, tool, seq);
CREATE INDEX agent_records_trace ON agent_records (tenant, kind, trace, seq);

-- +goose Down
DROP TABLE agent_records;
