-- +goose Up
CREATE TABLE users (
    id         INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    hash       TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
);
