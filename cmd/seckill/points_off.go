//go:build !testpoints

package main

import (
	"context"

	"seckill/model"
)

// point is where a seller can be held in a build for tests; elsewhere it is nil.
type point = func(ctx context.Context, item model.ID) context.Context

// peekedPoint is none: only a build with the tag testpoints has one.
func (p program) peekedPoint() point { return nil }
