package queue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// Two jobs of each account run at once, whatever their types, and one account, which pays for it, has five. Of all
// greetings, a hundred start in a minute, ten of them at once.
func ExampleQueue_SetLimit() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()
	err := errors.Join(
		q.SetLimit(ctx, queue.ForKeyPrefix("account:"), queue.Limit{MaxRunning: 2}),
		q.SetLimit(ctx, queue.ForKey("account:7"), queue.Limit{MaxRunning: 5}),
		q.SetLimit(ctx, queue.ForType(Greet), queue.Limit{Rate: 100, Per: time.Minute, Burst: 10}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, account := range []string{"account:1", "account:7"} {
		for range 9 {
			if _, err := q.Enqueue(ctx, Greet.New(Greeting{}, &queue.Options{LimitKey: account})); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	jobs, err := q.Claim(ctx, "worker", []string{string(Greet)}, 100) // a dispatcher does this
	if err != nil {
		fmt.Println(err)
		return
	}
	running := make(map[string]int)
	for _, job := range jobs {
		running[job.Job.LimitKey]++
	}
	fmt.Println(running)
	// Output: map[account:1:2 account:7:5]
}

// Everything stands still while the mail server is moved; jobs can be enqueued, and are lost by no means.
func ExampleQueue_Pause() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()
	if err := q.Pause(ctx, queue.ForAll()); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil)); err != nil {
		fmt.Println(err)
		return
	}
	jobs, err := q.Claim(ctx, "worker", []string{string(Greet)}, 10) // a dispatcher does this
	fmt.Println(len(jobs), err)
	if err := q.Resume(ctx, queue.ForAll()); err != nil {
		fmt.Println(err)
		return
	}
	jobs, err = q.Claim(ctx, "worker", []string{string(Greet)}, 10)
	fmt.Println(len(jobs), err)
	// Output:
	// 0 <nil>
	// 1 <nil>
}
