-- +goose Up
CREATE UNIQUE INDEX orders_by_ticket ON orders (item_id, epoch, seq);
