package main

import (
	"fmt"
	"runtime/debug"
)

// version prints the version that the program was built from.
func (p program) version() error {
	_, err := fmt.Fprintln(p.stdout, "seckill", builtFrom())
	return err
}

// builtFrom is the module's version, or the commit of a build in a checkout.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
