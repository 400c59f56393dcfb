package queue_test

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/postroom-go/postroom/queue"
)

// A service runs until it is told to stop. At the first Ctrl-C the dispatcher waits for its handlers; a second one
// ends the process at once, and what ran then runs again.
func ExampleDispatcher_Run() {
	run := func(d *queue.Dispatcher) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop) // a second Ctrl-C is not caught any more
		return d.Run(ctx)
	}
	_ = run
}
