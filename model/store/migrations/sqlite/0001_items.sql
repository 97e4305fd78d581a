-- +goose Up
CREATE TABLE items (
    id              INTEGER NOT NULL PRIMARY KEY,
    title           TEXT    NOT NULL,
    description     TEXT    NOT NULL DEFAULT '',
    image_url       TEXT    NOT NULL DEFAULT '',
    amount          INTEGER NOT NULL,
    currency        TEXT    NOT NULL,
    stock           INTEGER NOT NULL,
    available       INTEGER NOT NULL,
    per_buyer_limit INTEGER NOT NULL,
    pay_within      INTEGER NOT NULL, -- seconds
    starts_at       INTEGER NOT NULL,
    ends_at         INTEGER,
    paused          INTEGER NOT NULL DEFAULT 0,
    closed_at       INTEGER,
    version         INTEGER NOT NULL, -- raised by every change of available or of a gate field
    epoch           INTEGER NOT NULL,
    decided         INTEGER NOT NULL DEFAULT 0, -- highest number decided; never lowered
    set_aside       INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);
