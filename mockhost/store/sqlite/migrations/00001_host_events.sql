-- +goose Up
CREATE TABLE heads (
    tenant  TEXT    PRIMARY KEY,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    sweep   INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID, STRICT;

CREATE TABLE events (
    tenant    TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    id        TEXT    NOT NULL,
    type      TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    envelope  BLOB    NOT NULL,
    PRIMARY KEY (tenant, seq)
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX events_id ON events (id);

CREATE TABLE answers (
    tenant      TEXT    NOT NULL,
    operation   TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB    NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (tenant, operation, key)
) WITHOUT ROWID, STRICT;
CREATE INDEX answers_at ON answers (at);

CREATE TABLE due_work (
    kind   TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID, STRICT;
CREATE INDEX due_work_at ON due_work (due_at);

CREATE TABLE host_clock (
    only_row  INTEGER PRIMARY KEY CHECK (only_row = 1),
    offset_ns INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE host_clock;
DROP TABLE due_work;
DROP TABLE answers;
DROP TABLE events;
DROP TABLE heads;
