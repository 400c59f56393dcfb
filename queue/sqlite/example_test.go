package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

type Order struct{ ID int }

const ConfirmOrder queue.Type[Order] = "confirm_order"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The queue keeps its tables beside the program's own, on the program's pool.
func ExampleOpenDB() {
	ctx := context.Background()
	path := filepath.Join(must(os.MkdirTemp("", "shop")), "shop.db")
	defer os.RemoveAll(filepath.Dir(path))

	pool := must(sql.Open(sqlite.DriverName, path+"?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000&_foreign_keys=1"))
	defer pool.Close()
	db := must(sqlite.OpenDB(ctx, pool, nil))
	defer db.Close()
	must(0, queue.Migrate(ctx, db))
	q := must(queue.New(db, nil))

	tx := must(pool.BeginTx(ctx, nil))
	defer tx.Rollback()
	must(tx.ExecContext(ctx, "CREATE TABLE orders (id INTEGER PRIMARY KEY)"))
	must(tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES ($1)", 7))
	must(q.EnqueueTx(ctx, tx, ConfirmOrder.New(Order{ID: 7}, nil)))
	must(0, tx.Commit())
	fmt.Println(q.Counts(ctx, queue.Filter{}))
	// Output: map[queued:1] <nil>
}
