//go:build !linux

package redistest

import "os/exec"

// noOrphan can do nothing here: a server stays behind when the test's process ends without its cleanup.
func noOrphan(*exec.Cmd) {}
