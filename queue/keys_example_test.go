package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// A digest at most once a day, whatever becomes of it.
func ExampleForPeriod() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()
	daily := &queue.Options{Key: queue.ForPeriod("digest:ada", 24*time.Hour)}
	first, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, daily))
	if err != nil {
		log.Fatal(err)
	}
	if err := q.Cancel(ctx, first.ID); err != nil {
		log.Fatal(err)
	}
	second, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, daily))
	fmt.Println(second.Duplicate, err)

	third, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Bob"}, daily))
	fmt.Println(third.Duplicate, err)
	fmt.Println(third.Difference)
	// Output:
	// true <nil>
	// true <nil>
	// payload.Name is "Ada" there, "Bob" here
}

// However often something changes while one job works, one more is enough.
func ExampleCoalesce() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()
	job := Greet.New(Greeting{Name: "Ada"}, &queue.Options{Key: queue.Coalesce("index:ada")})
	runs := 0
	if _, err := q.Enqueue(ctx, job); err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) {
		queue.Handle(d, Greet, func(ctx context.Context, _ *queue.Work[Greeting]) error {
			if runs++; runs > 1 {
				return nil
			}
			for range 3 { // while this one runs
				enqueued, err := q.Enqueue(ctx, job)
				if err != nil {
					return err
				}
				fmt.Println("duplicate:", enqueued.Duplicate)
			}
			return nil
		})
	})
	fmt.Println("runs:", runs)
	// Output:
	// duplicate: false
	// duplicate: true
	// duplicate: true
	// runs: 2
}

// All failed jobs of one user are tried again.
func ExampleQueue_Redrive() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()
	for _, user := range []string{"ada", "bob", "ada"} {
		if _, err := q.Enqueue(ctx, Greet.New(Greeting{}, &queue.Options{UserID: user})); err != nil {
			log.Fatal(err)
		}
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) {
		queue.Handle(d, Greet, func(context.Context, *queue.Work[Greeting]) error {
			return queue.Fatal(errors.New("the printer is on fire"))
		})
	})
	done, err := q.Redrive(ctx, queue.Filter{UserID: "ada"})
	fmt.Println(done.Queued, err)
	// Output: 2 <nil>
}

// Finished jobs are kept for a day, failed ones of a type that matters for ever.
func ExampleRetention() {
	cfg := queue.Config{Retention: queue.Retention{
		Keep:  queue.Keep{Completed: 24 * time.Hour, Failed: 30 * 24 * time.Hour},
		Types: map[string]queue.Keep{string(Greet): {Failed: -1}},
	}}
	fmt.Println(cfg.Retention.Completed) // for queue.New
	// Output: 24h0m0s
}

// A key may be made of members of the payload: here one transfer for each account and kind waits or runs at a time.
func ExampleUniqueBy() {
	type Transfer struct {
		Account, Kind string
		Amount        int
	}
	const Pay queue.Type[Transfer] = "pay"
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	once := &queue.Options{Key: queue.WhileUnfinished(queue.UniqueBy("Account", "Kind"))}
	for _, transfer := range []Transfer{{"A-1", "rent", 500}, {"A-1", "rent", 700}, {"A-2", "rent", 500}} {
		result, err := q.Enqueue(ctx, Pay.New(transfer, once))
		fmt.Println(result.Duplicate, result.Difference, err)
	}
	// Output:
	// false  <nil>
	// true payload.Amount is 500 there, 700 here <nil>
	// false  <nil>
}
