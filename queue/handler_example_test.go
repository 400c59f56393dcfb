package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// What is particular to a type is said where its handler is registered.
func ExampleHandlerOption() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	greet := func(ctx context.Context, w *queue.Work[Greeting]) error {
		if w.Job.Attempt > 1 {
			return nil
		}
		<-ctx.Done() // it waits for an answer that does not come
		return errors.New("no answer")
	}
	soon := queue.RetryPolicy{Base: time.Millisecond, Factor: 2, Cap: time.Minute}

	greeting, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil))
	if err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) {
		queue.Handle(d, Greet, greet,
			queue.WithTimeout(10*time.Millisecond), queue.WithRetry(soon), queue.WithConcurrency(2))
	})
	attempts, err := q.Attempts(ctx, greeting.ID)
	for _, a := range attempts {
		fmt.Println(a.Attempt, a.Kind)
	}
	fmt.Println(err)
	// Output:
	// 1 failed
	// 2 completed
	// <nil>
}

// A middleware runs around every handler.
func ExampleMiddleware() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	announce := func(next queue.HandlerFunc) queue.HandlerFunc {
		return func(ctx context.Context, a *queue.Attempt) error {
			fmt.Println("begins", a.Job.Type)
			err := next(ctx, a)
			fmt.Println("ends", a.Job.Type, err)
			return err
		}
	}
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Middleware: []queue.Middleware{announce}})
	if err != nil {
		log.Fatal(err)
	}
	queue.Handle(d, Greet, func(_ context.Context, w *queue.Work[Greeting]) error {
		fmt.Println("Hello,", w.Payload.Name)
		return nil
	})
	if _, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)); err != nil {
		log.Fatal(err)
	}
	if err := d.RunUntilIdle(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// begins greet
	// Hello, Ada
	// ends greet <nil>
}

// What a handler logs is found with its job.
func ExampleAttempt_Logger() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	greet := func(_ context.Context, w *queue.Work[Greeting]) error {
		w.Logger().Info("greeting", "name", w.Payload.Name)
		w.Logger().Warn("nobody answered", "waited", time.Second.String())
		return nil
	}
	greeting, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil))
	if err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greet) })

	lines, err := q.Logs(ctx, greeting.ID)
	for _, l := range lines {
		fmt.Println(l.Attempt, l.Line, l.Level, l.Message, string(l.Attrs))
	}
	fmt.Println(err)
	// Output:
	// 1 1 INFO greeting {"name":"Ada"}
	// 1 2 WARN nobody answered {"waited":"1s"}
	// <nil>
}

// A long list is gone through page by page; the attempt that follows a failure goes on where the last one stopped. Each
// page's rows and the cursor that is past them are one commit.
func ExampleSaveCursorTx() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	const Import queue.Type[struct{}] = "users.import"
	pages := map[string]struct {
		names []string
		next  string
	}{
		"":     {[]string{"Ada", "Bob"}, "c"},
		"c":    {[]string{"Cleo", "Dan"}, "e"},
		"e":    {[]string{"Eve"}, "done"},
		"done": {},
	}
	importUsers := func(ctx context.Context, w *queue.Work[struct{}]) error {
		cursor, _, err := queue.Cursor[string](ctx, w, "list")
		if err != nil {
			return err
		}
		for cursor != "done" {
			page := pages[cursor]
			fmt.Println("attempt", w.Job.Attempt, "reads", page.names)
			if w.Job.Attempt == 1 && cursor == "c" {
				return queue.RetryAfter(errors.New("the network is down"), time.Millisecond)
			}
			err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				for _, name := range page.names {
					if _, err := tx.ExecContext(ctx, "INSERT INTO users (name) VALUES ($1)", name); err != nil {
						return err
					}
				}
				return queue.SaveCursorTx(ctx, tx, w, "list", page.next)
			})
			if err != nil {
				return err
			}
			cursor = page.next
		}
		return nil
	}

	if _, err := q.Enqueue(ctx, Import.New(struct{}{}, nil)); err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) { queue.Handle(d, Import, importUsers) })
	// Output:
	// attempt 1 reads [Ada Bob]
	// attempt 1 reads [Cleo Dan]
	// attempt 2 reads [Cleo Dan]
	// attempt 2 reads [Eve]
}

// Slow jobs have slots of their own, so that a hundred of them keep no other job waiting.
func ExampleWithPool() {
	const Report queue.Type[int] = "report"
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 10, Pools: map[string]int{"reports": 2}})
	if err != nil {
		log.Fatal(err)
	}
	queue.Handle(d, Report, func(context.Context, *queue.Work[int]) error { return nil }, queue.WithPool("reports"))
	queue.Handle(d, Greet, func(_ context.Context, w *queue.Work[Greeting]) error {
		fmt.Println("Hello,", w.Payload.Name)
		return nil
	})
	if _, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.RunUntilIdle(ctx))
	// Output:
	// Hello, Ada
	// <nil>
}
