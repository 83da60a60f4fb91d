-- +goose Up
CREATE TABLE runs (
    tenant    TEXT COLLATE "C" NOT NULL,
    id        TEXT COLLATE "C" NOT NULL UNIQUE,
    workspace TEXT   NOT NULL,
    subject   TEXT   NOT NULL,
    workflow  TEXT   NOT NULL,
    source    TEXT   NOT NULL,
    mode      TEXT   NOT NULL,
    from_seq  BIGINT NOT NULL,
    options   BYTEA  NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE run_events (
    run     TEXT COLLATE "C" NOT NULL,
    seq     BIGINT NOT NULL,
    tenant  TEXT COLLATE "C" NOT NULL,
    id      TEXT   NOT NULL,
    type    TEXT   NOT NULL,
    node    TEXT   NOT NULL,
    cause   TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    payload BYTEA  NOT NULL,
    PRIMARY KEY (run, seq)
);

CREATE TABLE dead_letters (
    tenant     TEXT COLLATE "C" NOT NULL,
    run        TEXT COLLATE "C" NOT NULL,
    node       TEXT COLLATE "C" NOT NULL,
    workspace  TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    attempts   INTEGER NOT NULL,
    at         BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    PRIMARY KEY (tenant, run, node)
);

-- +goose Down
DROP TABLE dead_letters;
DROP TABLE run_events;
DROP TABLE runs;
