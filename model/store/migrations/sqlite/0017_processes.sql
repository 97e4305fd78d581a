-- +goose Up
CREATE TABLE processes (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    started_at INTEGER NOT NULL
);
