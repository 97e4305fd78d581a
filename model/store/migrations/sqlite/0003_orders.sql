-- +goose Up
CREATE TABLE orders (
    id            INTEGER NOT NULL PRIMARY KEY,
    no            TEXT    NOT NULL,
    item_id       INTEGER NOT NULL,
    title         TEXT    NOT NULL DEFAULT '',
    buyer         BLOB    NOT NULL,
    quantity      INTEGER NOT NULL,
    amount        INTEGER NOT NULL,
    currency      TEXT    NOT NULL DEFAULT '',
    status        TEXT    NOT NULL,
    live          INTEGER, -- 1 while pending or paid, else NULL: a unique key passes NULLs over
    epoch         INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    paid_at       INTEGER,
    cancelled_at  INTEGER,
    cancel_reason TEXT    NOT NULL DEFAULT '',
    refund        TEXT    NOT NULL DEFAULT ''
);
