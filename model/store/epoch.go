package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"seckill/model"
)

// NextEpoch puts the item under epoch from+1 if it is in epoch from, and returns its row then; false, with the present
// row, if it is in another one. From then on no batch of an older epoch can be decided. After an error nobody knows
// whether it happened: read the row, and ask for the epoch after that. Unknown item: model.ErrNotFound.
func (s *Store) NextEpoch(ctx context.Context, item model.ID, from int64) (model.Item, bool, error) {
	var row model.Item
	begun := false
	err := s.write(ctx, func(tx *gorm.DB) error {
		var err error
		if row, err = lockItem(tx, item); err != nil {
			return err
		}
		if begun = row.Epoch == from; !begun {
			return nil
		}
		row.Epoch = from + 1
		return tx.Model(&itemRow{}).Where("id = ? AND epoch = ?", item, from).UpdateColumn("epoch", row.Epoch).Error
	})
	if err != nil {
		return model.Item{}, false, fmt.Errorf("next epoch of item %s: %w", item, err)
	}
	return row, begun, nil
}
