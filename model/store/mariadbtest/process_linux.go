package mariadbtest

import "syscall"

// dieWithParent lets no server outlive a test binary that was killed or has panicked.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
