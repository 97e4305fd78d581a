-- +goose Up
CREATE TABLE decisions (
    item_id         INTEGER NOT NULL,
    from_seq        INTEGER NOT NULL,
    to_seq          INTEGER NOT NULL,
    epoch           INTEGER NOT NULL,
    per_buyer_limit INTEGER NOT NULL, -- when it was decided
    available       INTEGER NOT NULL, -- before the decision
    version         INTEGER NOT NULL, -- after the decision
    closed          INTEGER NOT NULL, -- whether the item was closed
    tickets         BLOB    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (item_id, from_seq)
);
