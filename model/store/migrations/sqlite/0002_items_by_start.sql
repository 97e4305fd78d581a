-- +goose Up
CREATE INDEX items_by_start ON items (starts_at, id);
