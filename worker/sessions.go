package worker

import (
	"context"
	"log/slog"
	"time"

	"seckill/model/store"
)

// ClearSessions drops the login sessions that are over, now and every hour, until ctx ends. A failure is logged; the
// next round is the next try.
func ClearSessions(ctx context.Context, sessions store.Sessions, log *slog.Logger) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := sessions.DeleteExpired(ctx); err != nil && ctx.Err() == nil {
			log.Warn("old sessions not cleared", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
