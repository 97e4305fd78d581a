-- +goose Up
CREATE INDEX orders_by_buyer ON orders (buyer, created_at, id);
