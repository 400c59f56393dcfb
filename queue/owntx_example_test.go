package queue_test

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue"
)

type Order struct{ ID int }

const ConfirmOrder queue.Type[Order] = "confirm_order"

func placeOrder(ctx context.Context, pool *sql.DB, q *queue.Queue, id int) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES ($1)", id); err != nil {
		return err
	}
	if _, err := q.EnqueueTx(ctx, tx, ConfirmOrder.New(Order{ID: id}, nil)); err != nil {
		return err
	}
	return tx.Commit() // the job is there from now on, and starts at once
}

// The program begins and commits the transaction by itself; nobody has to tell the queue.
func ExampleQueue_EnqueueTx_databaseSQL() {
	var pool *sql.DB   // the program's, to the same database
	var q *queue.Queue // see queue.New
	_ = func(ctx context.Context) error { return placeOrder(ctx, pool, q, 7) }
}

// A *sqlx.Tx is given as it is.
func ExampleQueue_EnqueueTx_sqlx() {
	var pool *sqlx.DB
	var q *queue.Queue
	_ = func(ctx context.Context) error {
		tx, err := pool.BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := q.EnqueueTx(ctx, tx, ConfirmOrder.New(Order{ID: 7}, nil)); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// A handler completes its job in a transaction that it begins and commits by itself.
func ExampleAttempt_CompleteTx() {
	var pool *sql.DB
	_ = func(ctx context.Context, w *queue.Work[Order]) error {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "UPDATE orders SET confirmed = TRUE WHERE id = $1", w.Payload.ID); err != nil {
			return err
		}
		if err := w.CompleteTx(ctx, tx); err != nil {
			return err
		}
		return tx.Commit()
	}
}
