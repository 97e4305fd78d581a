-- +goose Up
CREATE UNIQUE INDEX orders_by_holder ON orders (item_id, buyer, live);
