// Longjob counts primes for an hour, or as long as you let it. It shows a job that outlives processes: it stores where
// it is after each block, so that it goes on there after a kill, and rests now and then without a slot.
//
//	go run ./examples/longjob start 3000000000    # prints the job's id
//	go run ./examples/longjob work                # kill it, and start it again
//	go run ./examples/longjob progress ID
//	go run ./examples/longjob cancel ID not needed any more
//
// What was counted is stored with the position, so that nothing is missing or counted twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Count is a job that counts the primes below a number. Its result is their number.
const Count queue.Type[int] = "primes.count"

const (
	block = 100_000 // numbers that are looked at between two positions
	rests = 10      // after so many blocks
	rest  = 100 * time.Millisecond
)

// A position is how far a job is: the number that is next, and how many primes are below it.
type position struct{ Next, Primes int }

// count goes on at the position that an earlier attempt has stored.
func count(ctx context.Context, w *queue.Work[int]) error {
	at, _, err := queue.Cursor[position](ctx, w, "blocks")
	for err == nil && at.Next < w.Payload {
		if at.Next > 0 && at.Next%(rests*block) == 0 {
			// The attempt ends here, and another begins when the time is over: then Sleep returns nil at once.
			if err := queue.Sleep(ctx, w, fmt.Sprintf("rest at %d", at.Next), rest); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx) // the job was canceled, or the process ends
		}
		below := min(at.Next+block, w.Payload)
		at = position{Next: below, Primes: at.Primes + primes(at.Next, below)}
		// A job that writes rows of its own stores them and the position together: queue.SaveCursorTx in w.Write.
		err = queue.SaveCursor(ctx, w, "blocks", at)
	}
	w.SetResult(at.Primes)
	return err
}

func primes(from, below int) (found int) {
	for n := max(from, 2); n < below; n++ {
		d := 2
		for d*d <= n && n%d != 0 {
			d++
		}
		if d*d > n {
			found++
		}
	}
	return found
}

// progress tells how far a job is, from its stored position.
func progress(ctx context.Context, q *queue.Queue, id string) (string, error) {
	job, err := q.Job(ctx, id)
	if err != nil {
		return "", err
	}
	steps, err := q.Steps(ctx, id)
	if err != nil {
		return "", err
	}
	at := "the beginning"
	for _, s := range steps {
		if s.Name == "blocks" {
			at = string(s.Cursor)
		}
	}
	said := fmt.Sprintf("%s, at %s of %s %s %s", job.State, at, job.Payload, job.Result, job.LastError)
	return strings.TrimSpace(said), nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	said, err := run(ctx, os.Args[1:])
	if err != nil {
		log.Fatal(err) //nolint:gocritic // there is nothing left to stop
	}
	fmt.Println(said)
}

func run(ctx context.Context, args []string) (said string, err error) {
	db, err := sqlite.Open(ctx, "longjob.db", nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := queue.Migrate(ctx, db); err != nil {
		return "", err
	}
	q, err := queue.New(db, nil)
	if err != nil {
		return "", err
	}
	switch args = append(args, "", ""); args[0] {
	case "start":
		below, err := strconv.Atoi(args[1])
		if err != nil {
			return "", err
		}
		result, err := q.Enqueue(ctx, Count.New(below, nil))
		return result.ID, err
	case "work":
		return "stopped", work(ctx, q)
	case "progress":
		return progress(ctx, q, args[1])
	case "cancel":
		ended, err := q.CancelJobs(ctx, []string{args[1]}, strings.TrimSpace(strings.Join(args[2:], " ")))
		return fmt.Sprintf("%d canceled", len(ended)), err
	}
	return "", errors.New("say start NUMBER, work, progress ID, or cancel ID REASON")
}

func work(ctx context.Context, q *queue.Queue) error {
	// The lease is how soon another process goes on after a kill. It is kept by heartbeats, however long the job takes.
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Lease: 2 * time.Second, Drain: time.Second})
	if err != nil {
		return err
	}
	queue.Handle(d, Count, count)
	return d.Run(ctx)
}
