//go:build testpoints

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"seckill/model"
)

// point is where a seller can be held.
type point = func(ctx context.Context, item model.ID) context.Context

// peekedPoint holds every seller that has peeked a batch, for as long as the file is there that SECKILL_TESTPOINT_PEEKED
// names. Meanwhile there is a file of that name with a dot and the item's id after it.
//
// A batch that was held goes on without its deadline: one that was frozen as it began to commit does not look at it either.
func (p program) peekedPoint() point {
	file, _ := p.environ("SECKILL_TESTPOINT_PEEKED")
	if file == "" {
		return nil
	}
	return func(ctx context.Context, item model.ID) context.Context {
		if !exists(file) {
			return ctx
		}
		reached := file + "." + item.String()
		if err := os.WriteFile(reached, nil, 0o600); err != nil {
			fmt.Fprintln(p.stderr, "test point:", err)
		}
		for exists(file) {
			time.Sleep(10 * time.Millisecond)
		}
		if err := os.Remove(reached); err != nil {
			fmt.Fprintln(p.stderr, "test point:", err)
		}
		return context.WithoutCancel(ctx)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
