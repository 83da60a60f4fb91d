-- +goose Up
CREATE TABLE agent_records (
    tenant   TEXT COLLATE "C" NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    id       TEXT COLLATE "C" NOT NULL,
    seq      BIGINT NOT NULL,
    state    TEXT COLLATE "C" NOT NULL,
    tool     TEXT COLLATE "C" NOT NULL,
    trace    TEXT COLLATE "C" NOT NULL,
    category TEXT COLLATE "C" NOT NULL,
    at       BIGINT NOT NULL,
    body     BYTEA  NOT NULL,
    PRIMARY KEY (tenant, kind, id)
);
CREATE UNIQUE INDEX agent_records_seq ON agent_records (tenant, kind, seq);
CREATE INDEX agent_records_state ON agent_records (tenant, kind, state, tool, seq);
CREATE INDEX agent_records_trace ON agent_records (tenant, kind, trace, seq);

-- +goose Down
DROP TABLE agent_records;
