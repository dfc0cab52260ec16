// Command veneur-emit sends metrics, events, service checks and spans from the command line. Its README shows how.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), streams{os.Stdin, os.Stdout, os.Stderr}))
}
