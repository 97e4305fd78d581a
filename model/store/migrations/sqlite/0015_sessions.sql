-- +goose Up
CREATE TABLE sessions (
    token      BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of the token
    user_id    INTEGER,
    data       BLOB    NOT NULL,
    expires_at INTEGER NOT NULL
);
