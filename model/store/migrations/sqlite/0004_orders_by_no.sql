-- +goose Up
CREATE UNIQUE INDEX orders_by_no ON orders (no);
