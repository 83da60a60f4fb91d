-- +goose Up
CREATE TABLE runs (
    tenant    TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    workflow  TEXT    NOT NULL,
    source    TEXT    NOT NULL,
    mode      TEXT    NOT NULL,
    from_seq  INTEGER NOT NULL,
    options   BLOB    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX runs_id ON runs (id);

CREATE TABLE run_events (
    run     TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    tenant  TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    type    TEXT    NOT NULL,
    node    TEXT    NOT NULL,
    cause   TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    payload BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID, STRICT;

CREATE TABLE dead_letters (
    tenant     TEXT    NOT NULL,
    run        TEXT    NOT NULL,
    node       TEXT    NOT NULL,
    workspace  TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    attempts   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, run, node)
) WITHOUT ROWID, STRICT;

-- +goose Down
DROP TABLE dead_letters;
DROP TABLE run_events;
DROP TABLE runs;
