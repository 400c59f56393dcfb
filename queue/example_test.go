package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

type Greeting struct{ Name string }

const Greet queue.Type[Greeting] = "greet"

// The shortest complete program. It keeps its jobs in memory; sqlite.Open keeps them in a file.
func Example() {
	ctx := context.Background()
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := queue.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	q, err := queue.New(db, nil)
	if err != nil {
		log.Fatal(err)
	}
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		log.Fatal(err)
	}
	queue.Handle(d, Greet, func(ctx context.Context, w *queue.Work[Greeting]) error {
		fmt.Println("Hello,", w.Payload.Name)
		return nil
	})
	if _, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)); err != nil {
		log.Fatal(err)
	}
	if err := d.RunUntilIdle(ctx); err != nil { // a service calls Run
		log.Fatal(err)
	}
	// Output: Hello, Ada
}

// exampleQueue is what Example sets up, with a table of the program's own.
func exampleQueue(ctx context.Context) (q *queue.Queue, closeDB func() error) {
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE users (name TEXT PRIMARY KEY, welcomed INTEGER NOT NULL DEFAULT 0)")
		return err
	})
	if err := errors.Join(err, queue.Migrate(ctx, db)); err != nil {
		log.Fatal(err)
	}
	if q, err = queue.New(db, nil); err != nil {
		log.Fatal(err)
	}
	return q, db.Close
}

func exampleRun(ctx context.Context, q *queue.Queue, register func(d *queue.Dispatcher)) {
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		log.Fatal(err)
	}
	register(d)
	if err := d.RunUntilIdle(ctx); err != nil {
		log.Fatal(err)
	}
}

// A row and the job about it are written together, or neither is.
func ExampleQueue_EnqueueTx() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	signUp := func(name string, refuse bool) error {
		return q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO users (name) VALUES ($1)", name); err != nil {
				return err
			}
			if _, err := q.EnqueueTx(ctx, tx, Greet.New(Greeting{Name: name}, nil)); err != nil {
				return err
			}
			if refuse {
				return errors.New("refused")
			}
			return nil
		})
	}
	fmt.Println(signUp("Ada", false))
	fmt.Println(signUp("Eve", true))

	counts, err := q.Counts(ctx, queue.Filter{})
	fmt.Println(counts, err)
	// Output:
	// <nil>
	// refused
	// map[queued:1] <nil>
}

// The handler's write, the next job and the end of this one are a single transaction.
func ExampleAttempt_Complete() {
	const Welcome queue.Type[Greeting] = "welcome"
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	welcome := func(ctx context.Context, w *queue.Work[Greeting]) error {
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO users (name, welcomed) VALUES ($1, 1)", w.Payload.Name)
			if err != nil {
				return err
			}
			_, err = w.Queue().EnqueueTx(ctx, tx, Greet.New(w.Payload, nil))
			return err
		})
	}
	greet := func(_ context.Context, w *queue.Work[Greeting]) error {
		fmt.Println("Hello,", w.Payload.Name)
		return nil
	}

	if _, err := q.Enqueue(ctx, Welcome.New(Greeting{Name: "Ada"}, nil)); err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) {
		queue.Handle(d, Welcome, welcome)
		queue.Handle(d, Greet, greet)
	})
	// Output: Hello, Ada
}

// What a step has paid for is not paid again when a later part of the job fails.
func ExampleStep() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	translate := func(context.Context) (string, error) {
		fmt.Println("asking the translator")
		return "Hallo", nil
	}
	greet := func(ctx context.Context, w *queue.Work[Greeting]) error {
		hello, err := queue.Step(ctx, w, "translate", translate)
		if err != nil {
			return err
		}
		if w.Job.Attempt == 1 {
			return queue.RetryAfter(errors.New("the printer is out of paper"), time.Millisecond)
		}
		fmt.Println(hello+",", w.Payload.Name)
		return nil
	}

	if _, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)); err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greet) })
	// Output:
	// asking the translator
	// Hallo, Ada
}

// A key says that two enqueued jobs are one and the same.
func ExampleKey() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	once := &queue.Options{Key: queue.Forever("greet:Ada")}
	first, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, once))
	fmt.Println(first.Duplicate, err)
	second, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, once))
	fmt.Println(second.Duplicate, second.ID == first.ID, err)
	third, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Eve"}, once))
	fmt.Println(third.Duplicate, third.Difference, err)
	// Output:
	// false <nil>
	// true true <nil>
	// true payload.Name is "Ada" there, "Eve" here <nil>
}

// A job runs at its time, and can be taken back before.
func ExampleQueue_EnqueueScheduled() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	tomorrow := time.Now().Add(24 * time.Hour)
	reminder, err := q.EnqueueScheduled(ctx, Greet.New(Greeting{Name: "Ada"}, nil), tomorrow)
	if err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) {
		// Nothing is due of this type, so nothing is waited for.
		queue.Handle(d, queue.Type[int]("another"), func(context.Context, *queue.Work[int]) error { return nil })
	})
	fmt.Println(q.Cancel(ctx, reminder.ID))
	job, err := q.Job(ctx, reminder.ID)
	fmt.Println(job.State, err)
	// Output:
	// <nil>
	// canceled <nil>
}

// What a handler returns decides what becomes of its job.
func ExampleHandle() {
	var (
		errNoSuchUser = errors.New("no such user")
		errRateLimit  = errors.New("rate limit")
		errBusy       = errors.New("busy")
	)
	const pause = time.Millisecond
	var answers sync.Map
	for name, err := range map[string]error{"nobody": errNoSuchUser, "everybody": errRateLimit, "Ada": errBusy} {
		answers.Store(name, err)
	}
	send := func(_ context.Context, g Greeting) error {
		answer, _ := answers.LoadAndDelete(g.Name) // it goes well the next time
		err, _ := answer.(error)
		return err
	}
	greet := func(ctx context.Context, w *queue.Work[Greeting]) error {
		err := send(ctx, w.Payload)
		switch {
		case errors.Is(err, errNoSuchUser):
			return queue.Fatal(err) // failed: no retry would mend it
		case errors.Is(err, errRateLimit):
			return queue.Defer(err, pause) // nobody's failure: again then, and no attempt is spent
		case errors.Is(err, errBusy):
			return queue.RetryAfter(err, pause) // a failure that names its own wait
		}
		return err // nil: completed; else a failure that is tried again, with backoff
	}

	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()
	var ids []string
	for _, name := range []string{"nobody", "everybody", "Ada"} {
		enqueued, err := q.Enqueue(ctx, Greet.New(Greeting{Name: name}, nil))
		if err != nil {
			log.Fatal(err)
		}
		ids = append(ids, enqueued.ID)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greet) })
	for _, id := range ids {
		job, err := q.Job(ctx, id)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d failures, %d interruptions\n", job.State, job.Failures, job.Interruptions)
	}
	// Output:
	// failed: 1 failures, 0 interruptions
	// completed: 0 failures, 1 interruptions
	// completed: 1 failures, 0 interruptions
}
