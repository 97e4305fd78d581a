-- +goose Up
CREATE TABLE stock_changes (
    id         INTEGER NOT NULL PRIMARY KEY,
    item_id    INTEGER NOT NULL,
    delta      INTEGER NOT NULL,
    reason     TEXT    NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
);
