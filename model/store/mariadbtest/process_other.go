//go:build !linux

package mariadbtest

import "syscall"

// dieWithParent has no means here: a server outlives a test binary that was killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
