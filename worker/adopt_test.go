package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
)

// damaged is a queue that can not load one item.
type damaged struct {
	queue.Queue
	item model.ID
}

var errDamaged = errors.New("damaged row")

func (q damaged) Install(ctx context.Context, item model.Item) error {
	if item.ID == q.item {
		return errDamaged
	}
	return q.Queue.Install(ctx, item)
}

func TestADamagedItemKeepsNoOtherFromBeingAdopted(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	broken, whole := s.create(1), s.create(1)
	s.must(s.sellers(damaged{s.queue, broken.ID}).Adopt(t.Context()))
	if p := s.progress(whole); p.Epoch != 1 {
		t.Errorf("the other item: %+v", p)
	}
	if book := strings.Join(s.log.all(), "\n"); !strings.Contains(book, errDamaged.Error()) || !strings.Contains(book, broken.ID.String()) {
		t.Errorf("the operator reads %q", book)
	}
}

func TestAdoptFailsWithoutTheItems(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	sellers := s.sellers(s.queue)
	s.create(1)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := sellers.Adopt(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
	s.close()
	if err := sellers.Adopt(t.Context()); err == nil {
		t.Error("adopted without a database")
	}
}

func TestADamagedItemKeepsNoOtherFromBeingCleared(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	broken, over := s.create(1), s.publish(1)
	sellers := s.sellers(damaged{s.queue, broken.ID})
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); sellers.working.Wait() }()
	sweep := func() {
		if err := sellers.runOnce(ctx); !errors.Is(err, errDamaged) {
			t.Errorf("a sweep with a damaged item: %v", err)
		}
	}
	sweep()
	_, err := s.store.CloseItem(t.Context(), over.ID, model.InstantOf(s.now()))
	s.must(err)
	s.ahead.Store(int64(keepOver + time.Minute))
	sweep()
	if p := s.progress(over); p.Epoch != 0 {
		t.Errorf("an item that is over for long is still kept: %+v", p)
	}
}
