-- +goose Up
CREATE TABLE IF NOT EXISTS decisions (
    item_id         BIGINT     NOT NULL,
    from_seq        BIGINT     NOT NULL,
    to_seq          BIGINT     NOT NULL,
    epoch           BIGINT     NOT NULL,
    per_buyer_limit INT        NOT NULL, -- when it was decided
    available       BIGINT     NOT NULL, -- before the decision
    version         BIGINT     NOT NULL, -- after the decision
    closed          TINYINT    NOT NULL, -- whether the item was closed
    tickets         MEDIUMBLOB NOT NULL,
    created_at      BIGINT     NOT NULL,
    PRIMARY KEY (item_id, from_seq)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
