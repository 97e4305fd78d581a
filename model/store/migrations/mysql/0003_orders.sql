-- +goose Up
CREATE TABLE IF NOT EXISTS orders (
    id            BIGINT         NOT NULL PRIMARY KEY,
    no            VARBINARY(26)  NOT NULL,
    item_id       BIGINT         NOT NULL,
    title         VARCHAR(200)   NOT NULL DEFAULT '',
    buyer         VARBINARY(128) NOT NULL,
    quantity      INT            NOT NULL,
    amount        BIGINT         NOT NULL,
    currency      VARBINARY(8)   NOT NULL DEFAULT '',
    status        VARBINARY(16)  NOT NULL,
    live          TINYINT, -- 1 while pending or paid, else NULL: a unique key passes NULLs over
    epoch         BIGINT         NOT NULL,
    seq           BIGINT         NOT NULL,
    created_at    BIGINT         NOT NULL,
    expires_at    BIGINT         NOT NULL,
    paid_at       BIGINT,
    cancelled_at  BIGINT,
    cancel_reason VARBINARY(16)  NOT NULL DEFAULT '',
    refund        VARBINARY(16)  NOT NULL DEFAULT '',
    UNIQUE KEY orders_by_no (no),
    UNIQUE KEY orders_by_ticket (item_id, epoch, seq),
    UNIQUE KEY orders_by_holder (item_id, buyer, live),
    KEY orders_by_buyer (buyer, created_at, id),
    KEY orders_by_status (item_id, status, quantity),
    KEY orders_by_time (created_at, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
