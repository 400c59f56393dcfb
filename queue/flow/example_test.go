package flow_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const (
	Count  queue.Type[string] = "example.count"  // the letters of a word
	Gather queue.Type[string] = "example.gather" // the counts
)

// countLetters registers the handlers of the examples.
func countLetters(d *queue.Dispatcher) {
	queue.Handle(d, Count, func(_ context.Context, w *queue.Work[string]) error {
		w.SetResult(len(w.Payload))
		return nil
	})
	queue.Handle(d, Gather, func(ctx context.Context, w *queue.Work[string]) error {
		total := 0
		for n, err := range flow.Results[int](ctx, w.Attempt, w.Payload) {
			if err != nil {
				return err
			}
			total += n
		}
		_, err := fmt.Println("letters:", total) //nolint:forbidigo // an example prints
		return err
	})
}

func open(ctx context.Context) (*queue.Queue, *queue.Dispatcher, func() error) {
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
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
	countLetters(d)
	return q, d, db.Close
}

func ExampleBatch() {
	ctx := context.Background()
	q, d, closeDB := open(ctx)
	defer func() { _ = closeDB() }()

	batch := flow.Batch(Count.New("one", nil), Count.New("three", nil)).Then(Gather.New(flow.BatchNode, nil))
	if _, err := flow.Enqueue(ctx, q, batch); err != nil {
		log.Fatal(err)
	}
	if err := d.RunUntilIdle(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: letters: 8
}

func ExampleEnqueue() {
	ctx := context.Background()
	q, d, closeDB := open(ctx)
	defer func() { _ = closeDB() }()

	words := []string{"alpha", "beta", "gamma"}
	jobs := make([]queue.NewJob, len(words))
	for i, word := range words {
		jobs[i] = Count.New(word, nil)
	}
	f := flow.New("letters", nil)
	f.Add("first", Count.New("first of all", nil))
	f.AddMany("words", slices.Values(jobs), flow.After("first"))
	f.Add("gather", Gather.New("words", nil), flow.After("words"))
	id, err := flow.Enqueue(ctx, q, f)
	if err != nil {
		log.Fatal(err)
	}
	if err := d.RunUntilIdle(ctx); err != nil {
		log.Fatal(err)
	}
	status, err := flow.Get(ctx, q, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Name, status.State, status.Ended, "of", status.Nodes)
	nodes, err := flow.Nodes(ctx, q, id)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range nodes {
		fmt.Println(n.Name, n.State, n.Counts)
	}
	// Output:
	// letters: 14
	// letters completed 3 of 3
	// first completed 1 of 1 completed, 0 failed, 0 canceled
	// gather completed 1 of 1 completed, 0 failed, 0 canceled
	// words completed 3 of 3 completed, 0 failed, 0 canceled
}
