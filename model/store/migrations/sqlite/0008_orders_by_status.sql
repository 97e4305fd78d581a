-- +goose Up
CREATE INDEX orders_by_status ON orders (item_id, status, quantity);
