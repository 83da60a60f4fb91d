-- +goose Up
-- Identifiers are compared and sorted byte by byte, whatever the database's locale.
CREATE TABLE heads (
    tenant TEXT COLLATE "C" PRIMARY KEY,
    seq    BIGINT  NOT NULL,
    at     BIGINT  NOT NULL,
    sweep  BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE TABLE events (
    tenant    TEXT COLLATE "C" NOT NULL,
    seq       BIGINT NOT NULL,
    id        TEXT COLLATE "C" NOT NULL UNIQUE,
    type      TEXT   NOT NULL,
    workspace TEXT   NOT NULL,
    at        BIGINT NOT NULL,
    envelope  BYTEA  NOT NULL,
    PRIMARY KEY (tenant, seq)
);

CREATE TABLE answers (
    tenant      TEXT COLLATE "C" NOT NULL,
    operation   TEXT COLLATE "C" NOT NULL,
    key         TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    body        BYTEA   NOT NULL,
    at          BIGINT  NOT NULL,
    PRIMARY KEY (tenant, operation, key)
);
CREATE INDEX answers_at ON answers (at);

CREATE TABLE due_work (
    kind       TEXT COLLATE "C" NOT NULL,
    key        TEXT COLLATE "C" NOT NULL,
    due_at     BIGINT NOT NULL,
    held_by    TEXT   NOT NULL DEFAULT '',
    held_until BIGINT NOT NULL DEFAULT 0,
    held_from  BIGINT NOT NULL DEFAULT 0, -- the advisory lock that is held for as long as the claimer lives
    PRIMARY KEY (kind, key)
);
CREATE INDEX due_work_at ON due_work (due_at, kind, key);

CREATE TABLE host_clock (
    only_row  INTEGER PRIMARY KEY CHECK (only_row = 1),
    offset_ns BIGINT NOT NULL
);

-- +goose Down
DROP TABLE host_clock;
DROP TABLE due_work;
DROP TABLE answers;
DROP TABLE events;
DROP TABLE heads;
