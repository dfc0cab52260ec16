// Command veneur is the metrics and spans daemon of a host.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Who reads the tables on standard output may go away (veneur | head). That is one sink failing, and no reason to end.
	signal.Ignore(syscall.SIGPIPE)
	// A hangup is a stop too: whoever closes the terminal would otherwise lose the last interval and leave socket files behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
