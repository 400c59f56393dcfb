package queueadmin_test

import (
	"context"
	"fmt"
	"log"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const greet queue.Type[string] = "greet"

// greetings are a database with a job that waits, and its queue.
func greetings(ctx context.Context) (db *sqlite.DB, q *queue.Queue, jobID string) {
	db = empty(ctx)
	q, err := queue.New(db, nil)
	if err != nil {
		log.Fatal(err)
	}
	job, err := q.Enqueue(ctx, greet.New("Ada", nil))
	if err != nil {
		log.Fatal(err)
	}
	return db, q, job.ID
}

func empty(ctx context.Context) *sqlite.DB {
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := queue.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	return db
}

func ExampleMove() {
	ctx := context.Background()
	from, _, _ := greetings(ctx)
	defer from.Close()
	to := empty(ctx)
	defer to.Close()
	report, err := queueadmin.Move(ctx, from, to, nil)
	if err != nil {
		fmt.Println(err) // call it again: it goes on
		return
	}
	fmt.Println("moved:", report.Jobs, "without their keys:", len(report.KeysTaken))
	// Output: moved: 1 without their keys: 0
}

func ExampleDoctor() {
	ctx := context.Background()
	db, q, _ := greetings(ctx)
	defer db.Close()
	findings, err := queueadmin.Doctor(ctx, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		if f.Severity != queueadmin.SeverityOK {
			fmt.Println(f)
		}
	}
	// Output: warning: no worker is alive (run a Dispatcher on this database)
}

func ExampleExplain() {
	ctx := context.Background()
	db, q, id := greetings(ctx)
	defer db.Close()
	if err := q.Pause(ctx, queue.ForType(greet)); err != nil {
		fmt.Println(err)
		return
	}
	why, err := queueadmin.Explain(ctx, q, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, reason := range why.Reasons {
		fmt.Println(reason.Cause)
	}
	// Output:
	// paused
	// no_worker
}

func ExampleVerify() {
	ctx := context.Background()
	db, q, _ := greetings(ctx)
	defer db.Close()
	violations, err := queueadmin.Verify(ctx, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(violations)
	// Output: []
}
