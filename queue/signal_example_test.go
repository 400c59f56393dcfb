package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// A handler asks a person and waits for the answer, for two days if need be. Meanwhile it takes no slot.
func ExampleAwait() {
	const Pay queue.Type[int] = "pay"
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	pay := func(ctx context.Context, w *queue.Work[int]) error {
		_, err := queue.Step(ctx, w, "ask", func(context.Context) (string, error) {
			fmt.Println("May I pay", w.Payload, "euros?")
			// Another process does this when the person clicks.
			return "by mail", q.Signal(ctx, w.Job.ID, "approval", true)
		})
		if err != nil {
			return err
		}
		approved, err := queue.Await[bool](ctx, w, "approval", 48*time.Hour)
		if errors.Is(err, queue.ErrNoSignal) {
			return queue.Cancel(err) // nobody has answered
		}
		if err != nil {
			return err
		}
		fmt.Println("approved:", approved)
		return nil
	}

	if _, err := q.Enqueue(ctx, Pay.New(42, nil)); err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) { queue.Handle(d, Pay, pay) })
	// Output:
	// May I pay 42 euros?
	// approved: true
}

// A sleep ends the attempt, and the handler runs again when it is over, in whichever process.
func ExampleSleep() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	greet := func(ctx context.Context, w *queue.Work[Greeting]) error {
		if err := queue.Sleep(ctx, w, "not too early", time.Millisecond); err != nil {
			return err
		}
		fmt.Println("Hello,", w.Payload.Name)
		return nil
	}
	if _, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)); err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greet) })
	// Output: Hello, Ada
}
