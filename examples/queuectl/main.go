// Queuectl shows and changes the queue of any program, by the DSN of its database.
//
//	queuectl --database app.db list --state failed
//	queuectl --database postgres://localhost/app retry --error "connection refused"
//
// The database is that of --database, or of $QUEUECTL_DATABASE. The exit status is 0 if all went well, 1 if the
// command failed, 2 if the request is invalid, 3 if doctor or verify have found a problem, and 130 if it was
// interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/postroom-go/postroom/examples/queuectl/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	status := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
