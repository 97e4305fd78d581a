package redistest

import (
	"os/exec"
	"syscall"
)

// noOrphan has the server end with the test's process, also when that ends without its cleanup.
func noOrphan(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
