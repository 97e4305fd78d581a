-- +goose Up
CREATE TABLE IF NOT EXISTS stock_changes (
    id         BIGINT NOT NULL PRIMARY KEY,
    item_id    BIGINT NOT NULL,
    delta      BIGINT NOT NULL,
    reason     TEXT   NOT NULL,
    created_at BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
