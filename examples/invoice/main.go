// Invoice demonstrates the single transaction: a handler's own write, the next job and the completion of this one
// take effect together, or not at all. Kill the program at any point and run it again: the invoice is paid once and
// one receipt is sent.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Invoice is the payload of Pay.
type Invoice struct{ ID int }

// Receipt is the payload of SendReceipt.
type Receipt struct{ Invoice int }

// The types of job.
const (
	Pay         queue.Type[Invoice] = "invoice.pay"
	SendReceipt queue.Type[Receipt] = "receipt.send"
)

const schema = `CREATE TABLE IF NOT EXISTS invoices (id INTEGER PRIMARY KEY, paid_at TEXT)`

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	db, err := sqlite.Open(ctx, "invoices.db", nil)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	q, err := queue.New(db, nil)
	if err != nil {
		return err
	}
	// The invoice and the job that pays it are created together.
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO invoices (id) VALUES ($1) ON CONFLICT DO NOTHING", 17); err != nil {
			return err
		}
		_, err := q.EnqueueTx(ctx, tx, Pay.New(Invoice{ID: 17}, &queue.Options{Key: queue.Forever("invoice.pay:17")}))
		return err
	})
	if err != nil {
		return err
	}
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		return err
	}
	handle(d, time.Now().UTC().Format(time.DateOnly))
	return d.RunUntilIdle(ctx)
}

func handle(d *queue.Dispatcher, paidAt string) {
	queue.Handle(d, Pay, func(ctx context.Context, w *queue.Work[Invoice]) error {
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			if _, err := tx.ExecContext(ctx, "UPDATE invoices SET paid_at = $1 WHERE id = $2", paidAt,
				w.Payload.ID); err != nil {
				return err
			}
			_, err := w.Queue().EnqueueTx(ctx, tx, SendReceipt.New(Receipt{Invoice: w.Payload.ID}, nil))
			return err
		})
	})
	queue.Handle(d, SendReceipt, func(_ context.Context, w *queue.Work[Receipt]) error {
		fmt.Println("Receipt for invoice", w.Payload.Invoice)
		return nil
	})
}
