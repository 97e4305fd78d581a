-- +goose Up
CREATE TABLE IF NOT EXISTS items (
    id              BIGINT          NOT NULL PRIMARY KEY,
    title           VARCHAR(200)    NOT NULL,
    description     TEXT            NOT NULL,
    image_url       VARBINARY(2048) NOT NULL DEFAULT '',
    amount          BIGINT          NOT NULL,
    currency        VARBINARY(8)    NOT NULL,
    stock           BIGINT          NOT NULL,
    available       BIGINT          NOT NULL,
    per_buyer_limit INT             NOT NULL,
    pay_within      INT             NOT NULL, -- seconds
    starts_at       BIGINT          NOT NULL,
    ends_at         BIGINT,
    paused          TINYINT         NOT NULL DEFAULT 0,
    closed_at       BIGINT,
    version         BIGINT          NOT NULL, -- raised by every change of available or of a gate field
    epoch           BIGINT          NOT NULL,
    decided         BIGINT          NOT NULL DEFAULT 0, -- highest number decided; never lowered
    set_aside       BIGINT          NOT NULL DEFAULT 0,
    created_at      BIGINT          NOT NULL,
    updated_at      BIGINT          NOT NULL,
    KEY items_by_start (starts_at, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
