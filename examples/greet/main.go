// Greet is the shortest complete program that uses the queue: it enqueues a job and runs the waiting jobs.
package main

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

type Greeting struct{ Name string }

const Greet queue.Type[Greeting] = "greet"

func main() {
	ctx := context.Background()
	db := must(sqlite.Open(ctx, "jobs.db", nil))
	must(0, queue.Migrate(ctx, db))
	q := must(queue.New(db, nil))
	d := must(queue.NewDispatcher(q, nil))
	queue.Handle(d, Greet, func(ctx context.Context, w *queue.Work[Greeting]) error {
		_, err := fmt.Println("Hello,", w.Payload.Name)
		return err
	})
	must(q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)))
	must(0, d.RunUntilIdle(ctx)) // a service calls d.Run(ctx)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
