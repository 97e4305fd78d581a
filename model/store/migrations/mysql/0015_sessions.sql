-- +goose Up
CREATE TABLE IF NOT EXISTS sessions (
    token      VARBINARY(32) NOT NULL PRIMARY KEY, -- SHA-256 of the token
    user_id    BIGINT,
    data       BLOB          NOT NULL,
    expires_at BIGINT        NOT NULL,
    KEY sessions_by_expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
