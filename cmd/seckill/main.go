// Command seckill runs flash sales, alone with a SQLite file or as one of many processes on Redis and MySQL; its
// subcommands are the tools beside it. See the README, or seckill --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	p := program{environ: os.LookupEnv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(untilSignal(), os.Args[1:]))
}

// untilSignal is a context that ends with the first SIGTERM or SIGINT. The second ends the process at once.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitFailure)
	}()
	return ctx
}
