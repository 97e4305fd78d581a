//go:build !unix

package main

// descriptors is how many files and sockets the process may have open: a guess where the system has no limit to ask for.
func descriptors() int64 { return 11_000 }
