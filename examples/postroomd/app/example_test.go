package app_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/queue"
)

const greet queue.Type[string] = "greet"

// A program starts the daemon with an action and a type of job of its own. Here it is that of the demo, which has a
// Gmail of its own, and only the jobs run that are there; a daemon calls Run.
func Example() {
	folder, err := os.MkdirTemp("", "postroomd")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()

	a, err := app.New(ctx, app.Config{
		Environment: environment.Demo(environment.Folder(folder)),
		Kinds:       []postroom.Kind{{Type: "print", Summary: "print the message", Handler: printMessage}},
		Register: func(d *queue.Dispatcher) error {
			queue.Handle(d, greet, func(_ context.Context, w *queue.Work[string]) error {
				fmt.Println("Hello,", w.Payload)
				return nil
			})
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := a.Queue.Enqueue(ctx, greet.New("world", nil)); err != nil {
		log.Fatal(err)
	}
	if err := a.RunJobs(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("Rules may print:", a.Rules.Kinds().Has("print"))
	if err := a.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Hello, world
	// Rules may print: true
}

func printMessage(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
	return postroom.Outcome{}, nil
}
