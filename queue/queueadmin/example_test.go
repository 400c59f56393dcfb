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

// All jobs of a user that failed because a server was away are run again, with a line after each thousand.
func ExampleRetry() {
	ctx := context.Background()
	db, q, _ := greetings(ctx)
	defer db.Close()
	done, err := queueadmin.Retry(ctx, q, queueadmin.Selection{
		Filter:        queue.Filter{UserID: "ada"},
		ErrorContains: "connection refused",
	}, &queueadmin.BulkConfig{
		Progress: func(done queueadmin.BulkResult) { fmt.Println("so far", done.Changed) },
	})
	fmt.Println(done.Changed, "of", done.Selected, err)
	// Output:
	// 0 of 0 <nil>
}

// A table of another program is imported by a mapping of its columns: first as a dry run.
func ExampleImport() {
	ctx := context.Background()
	db := empty(ctx)
	defer db.Close()
	q, err := queue.New(db, nil)
	if err != nil {
		log.Fatal(err)
	}
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE tasks AS SELECT 'one' AS id, 'greet' AS kind, 'new' AS status")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	report, err := queueadmin.Import(ctx, q, db.Reader(), queueadmin.ImportConfig{
		DryRun: true,
		Mapping: queueadmin.Mapping{
			Table: "tasks", ID: "id", Type: "kind", State: "status",
			States: map[string]queue.State{"new": queue.StateQueued, "done": queue.StateCompleted},
		},
	})
	fmt.Println(report.Imported, report.Refused, err)
	// Output:
	// map[queued:1] 0 <nil>
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
