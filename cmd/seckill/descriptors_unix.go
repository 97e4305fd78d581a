//go:build unix

package main

import (
	"math"
	"syscall"
)

// descriptors is how many files and sockets the process may have open.
func descriptors() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64))
}
