// Postroomd sorts a mailbox by rules, keeps a ledger of its actions, asks a person before dangerous ones, and can
// undo actions.
//
// "postroomd demo" runs the whole pipeline against a Gmail of its own, loaded with a sample mailbox or with yours.
// "postroomd run" works on the mailbox of its configuration until it is stopped. The other commands show and change
// the results of these two.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/postroom-go/postroom/examples/postroomd/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	status := cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
