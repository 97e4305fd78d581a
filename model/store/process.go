package store

import (
	"context"

	"gorm.io/gorm"

	"seckill/model"
)

// processRow is the row of table processes: one for each start of a process that writes.
type processRow struct {
	ID        int64         `gorm:"primaryKey"`
	StartedAt model.Instant // by the database's clock
}

// TableName names the table for gorm.
func (processRow) TableName() string { return "processes" }

// takeNode counts this start of a process, and is the node number of its ids: the count, from 0 on again after
// model.MaxNode. So any 1,024 processes that started one after the other differ. Should one run for longer than that and
// meet another of its number in the same millisecond, the database refuses the id, and nobody's ticket fails for it.
func (s *Store) takeNode(ctx context.Context) (int, error) {
	var row processRow
	err := s.write(ctx, func(tx *gorm.DB) error {
		now, err := s.databaseNow(tx)
		if err != nil {
			return err
		}
		row = processRow{StartedAt: now}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return tx.Where("id < ?", row.ID-model.MaxNode).Delete(&processRow{}).Error
	})
	return int(row.ID & model.MaxNode), err
}
