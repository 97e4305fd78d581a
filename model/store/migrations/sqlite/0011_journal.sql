-- +goose Up
CREATE TABLE journal (
    item_id  INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq   INTEGER NOT NULL,
    entries  BLOB    NOT NULL,
    PRIMARY KEY (item_id, from_seq)
);
