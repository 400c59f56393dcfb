package postgres_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The queue on a server, for as many machines as like: all else is as on SQLite.
func Example() {
	ctx := context.Background()
	db := must(postgres.Open(ctx, "postgres://mail@db.example.org/mail", nil))
	defer db.Close()
	must(0, queue.Migrate(ctx, db))
	q := must(queue.New(db, nil))
	fmt.Println(q.Counts(ctx, queue.Filter{}))
}

type Order struct{ ID int }

const ConfirmOrder queue.Type[Order] = "confirm_order"

// A transaction of pgx is given by an adapter, and begins and commits as usual. The queue runs on the program's own
// pool.
func ExampleTx() {
	ctx := context.Background()
	pool := must(pgxpool.New(ctx, "postgres://shop@db.example.org/shop"))
	defer pool.Close()
	db := must(postgres.OpenPool(ctx, pool, nil))
	defer db.Close()
	q := must(queue.New(db, nil))

	tx := must(pool.Begin(ctx))
	defer tx.Rollback(ctx)
	must(tx.Exec(ctx, "INSERT INTO orders (id) VALUES ($1)", 7))
	must(q.EnqueueTx(ctx, postgres.Tx(tx), ConfirmOrder.New(Order{ID: 7}, nil)))
	fmt.Println(tx.Commit(ctx))
}
