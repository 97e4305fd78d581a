-- +goose Up
CREATE TABLE IF NOT EXISTS users (
    id         BIGINT         NOT NULL PRIMARY KEY,
    name       VARBINARY(400) NOT NULL,
    hash       VARBINARY(255) NOT NULL,
    role       VARBINARY(32)  NOT NULL,
    created_at BIGINT         NOT NULL,
    UNIQUE KEY users_by_name (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
