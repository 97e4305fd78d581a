package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/store/mariadbtest"
)

// BenchmarkDecide measures orders a second in batches of 500, and as a ratio to one transaction an order in the same
// run, on the same disk, with commits that wait for it.
func BenchmarkDecide(b *testing.B) {
	b.Run(onSQLite.name, func(b *testing.B) { benchmarkDecide(b, onSQLite.open(b, Options{})) })
	b.Run(onMariaDB.name, func(b *testing.B) {
		server := mariadbtest.StartDurable(b)
		benchmarkDecide(b, openAt(b, server.DSN(server.Database(b)), Options{}))
	})
}

func benchmarkDecide(b *testing.B, s *Store) {
	item := createItem(b, s, func(i *model.Item) { i.Stock = model.MaxStock })
	next := int64(1)
	decide := func(n int) time.Duration {
		entries := make([]model.Entry, n)
		for k := range entries {
			entries[k] = entry(next, fmt.Sprintf("buyer-%d", next), 1)
			next++
		}
		start := time.Now()
		out, err := s.Decide(context.Background(), item.ID, 1, entries)
		if err != nil || len(out.Orders) != n {
			b.Fatal(len(out.Orders), err)
		}
		return time.Since(start)
	}
	const batch = 500
	var batched, single time.Duration
	for b.Loop() {
		batched += decide(batch)
		for range batch / 10 {
			single += decide(1)
		}
	}
	orders := float64(b.N * batch)
	fast, slow := orders/batched.Seconds(), orders/10/single.Seconds()
	b.ReportMetric(fast, "orders/s")
	b.ReportMetric(slow, "single-orders/s")
	b.ReportMetric(fast/slow, "ratio")
}

// BenchmarkAppendJournal measures one group of clicks, the part of the buy path that is SQL's, with and without an
// fsync at each commit.
func BenchmarkAppendJournal(b *testing.B) {
	for _, sync := range []string{"FULL", "NORMAL"} {
		for _, size := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("%s/%d", sync, size), func(b *testing.B) {
				s := onSQLite.open(b, Options{})
				if err := s.writer.Exec("PRAGMA synchronous = " + sync).Error; err != nil {
					b.Fatal(err)
				}
				group := make([][]byte, size)
				for n := range group {
					group[n] = []byte("1|1|1234567|1790000000000|1|" + strings.Repeat("b", 22))
				}
				from := int64(1)
				for b.Loop() {
					if err := s.AppendJournal(context.Background(), 1, from, group); err != nil {
						b.Fatal(err)
					}
					from += int64(size)
				}
				b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "entries/s")
			})
		}
	}
}
