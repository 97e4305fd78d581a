package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/model"
)

// maxJournalGroup bounds the entries of one row of the journal, so that a damaged row can not ask for all memory.
const maxJournalGroup = 1 << 16

// maxSeq is the highest number that a ticket can have: a page's script still knows it from the next.
const maxSeq = 1 << 53

const appendJournal = "INSERT INTO journal (item_id, from_seq, to_seq, entries) VALUES (?, ?, ?, ?)"

// errNoJournal is the answer of a database that several processes share: the local queue has one.
var errNoJournal = errors.New("the local queue's journal needs SQLite")

// AppendJournal implements queue.Journal: one row a group. Every click waits for it, so it goes past gorm: one
// prepared statement that is its own transaction. Only on SQLite.
func (s *Store) AppendJournal(ctx context.Context, item model.ID, from int64, entries [][]byte) error {
	if len(entries) == 0 || len(entries) > maxJournalGroup {
		return fmt.Errorf("append to journal of item %s: %d entries", item, len(entries))
	}
	insert, err := s.journalInsert(ctx)
	if err != nil {
		return fmt.Errorf("append to journal of item %s: %w", item, err)
	}
	to := from + int64(len(entries)) - 1
	group := encodeGroup(entries)
	err = s.retry(ctx, s.dialect.undone, func() error {
		_, err := insert.ExecContext(ctx, int64(item), from, to, group)
		return err
	})
	if err != nil {
		return fmt.Errorf("append to journal of item %s: %w", item, err)
	}
	return nil
}

// journalInsert is the prepared insert, made by the first caller: Open can not, there is no table yet.
func (s *Store) journalInsert(ctx context.Context) (*sql.Stmt, error) {
	if !s.dialect.journal {
		return nil, errNoJournal
	}
	if s.writer == nil {
		return nil, errReadOnly
	}
	if insert := s.insertJournal.Load(); insert != nil {
		return insert, nil
	}
	db, err := s.writer.DB()
	if err != nil {
		return nil, err
	}
	insert, err := db.PrepareContext(ctx, appendJournal)
	if err != nil {
		return nil, err
	}
	if !s.insertJournal.CompareAndSwap(nil, insert) {
		return s.insertJournal.Load(), insert.Close()
	}
	return insert, nil
}

// LoadJournal implements queue.Journal. A row of impossible numbers is an error: what is decided is never taken back, so
// it must not move the item's numbers. Only on SQLite.
func (s *Store) LoadJournal(ctx context.Context, item model.ID) ([]model.EntryGroup, error) {
	if !s.dialect.journal {
		return nil, fmt.Errorf("journal of item %s: %w", item, errNoJournal)
	}
	var rows []journalRow
	err := s.reader.WithContext(ctx).Where("item_id = ?", item).Order("from_seq").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("journal of item %s: %w", item, err)
	}
	groups := make([]model.EntryGroup, len(rows))
	for n, row := range rows {
		size := row.ToSeq - row.FromSeq + 1
		if size < 1 || size > maxJournalGroup || row.ToSeq > maxSeq {
			return nil, fmt.Errorf("journal of item %s: row of the numbers %d to %d", item, row.FromSeq, row.ToSeq)
		}
		groups[n] = model.EntryGroup{From: row.FromSeq, Lines: decodeGroup(row.Entries, int(size))}
	}
	return groups, nil
}

// forgetJournal deletes the item's groups that are decided whole.
func forgetJournal(tx *gorm.DB, item model.ID, decided int64) error {
	return tx.Where("item_id = ? AND from_seq <= ? AND to_seq <= ?", item, decided, decided).Delete(&journalRow{}).Error
}

// LoadHolders implements queue.Journal.
func (s *Store) LoadHolders(ctx context.Context, item model.ID) ([]model.Order, error) {
	orders, err := findOrders(s.reader.WithContext(ctx).
		Where("item_id = ? AND status IN ?", item, []model.OrderStatus{model.OrderPending, model.OrderPaid}))
	if err != nil {
		return nil, fmt.Errorf("holders of item %s: %w", item, err)
	}
	return orders, nil
}

// decisionPage is how many decisions LoadDecisions reads at a time.
const decisionPage = 200

// LoadDecisions implements queue.Journal. It reads in pages, so that it holds no snapshot.
func (s *Store) LoadDecisions(ctx context.Context, item model.ID, each func(model.Decision) error) error {
	for after := int64(0); ; {
		var rows []decisionRow
		err := s.reader.WithContext(ctx).Where("item_id = ? AND from_seq > ?", item, after).
			Order("from_seq").Limit(decisionPage).Find(&rows).Error
		if err != nil {
			return fmt.Errorf("decisions of item %s: %w", item, err)
		}
		for _, row := range rows {
			d, err := row.decision()
			if err == nil {
				err = each(d)
			}
			if err != nil {
				return fmt.Errorf("decision of item %s from %d: %w", item, row.FromSeq, err)
			}
			after = row.FromSeq
		}
		if len(rows) < decisionPage {
			return nil
		}
	}
}

// encodeGroup puts each line behind its length, so that a line may have any bytes.
func encodeGroup(lines [][]byte) []byte {
	size := 0
	for _, line := range lines {
		size += binary.MaxVarintLen32 + len(line)
	}
	b := make([]byte, 0, size)
	for _, line := range lines {
		b = binary.AppendUvarint(b, uint64(len(line)))
		b = append(b, line...)
	}
	return b
}

// decodeGroup cuts size lines out of b. From where it can not go on, lines are nil.
func decodeGroup(b []byte, size int) [][]byte {
	lines := make([][]byte, size)
	for n := range lines {
		length, used := binary.Uvarint(b)
		if used <= 0 || length > uint64(len(b)-used) {
			break
		}
		end := used + int(length)
		lines[n], b = b[used:end:end], b[end:]
	}
	return lines
}

// journalRow is the row of table journal.
type journalRow struct {
	ItemID  model.ID
	FromSeq int64
	ToSeq   int64
	Entries []byte
}

// TableName names the table for gorm.
func (journalRow) TableName() string { return "journal" }
