-- +goose Up
CREATE UNIQUE INDEX users_by_name ON users (name);
