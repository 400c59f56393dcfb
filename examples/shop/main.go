// Shop takes orders and charges for them, and mails receipts. It shows what belongs together in one transaction:
//
//   - An order's row and the job that charges for it: none is without the other.
//   - The paid order, the job that mails the receipt and the end of the job that has charged.
//
// An order that is placed twice is charged once, since its key is taken. The jobs of one customer are a sequence, and
// run one after the other. The bank is called in a step: once it has answered, a later attempt does not call it again.
//
//	go run ./examples/shop
//
// Kill the program at any point and run it again: each order is paid once, and has one receipt.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Order is the payload of Charge.
type Order struct {
	ID       int
	Customer string
	Cents    int
}

// Receipt is the payload of MailReceipt.
type Receipt struct {
	Order    int
	Customer string
	Payment  string
}

// The types of job.
const (
	Charge      queue.Type[Order]   = "order.charge"
	MailReceipt queue.Type[Receipt] = "receipt.mail"
)

const schema = `CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer TEXT, cents INTEGER, payment TEXT)`

var errDeclined = errors.New("the card was declined")

// A shop has its rows and its jobs in one database.
type shop struct {
	q *queue.Queue
	// charge has the bank charge a customer. A bank that gets a key again answers as the first time.
	charge func(ctx context.Context, key, customer string, cents int) (payment string, err error)
	mail   func(ctx context.Context, to, text string) error
}

// migrate creates the tables. It may be called at every start.
func migrate(ctx context.Context, db queue.DB) error {
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, schema)
		return err
	})
}

// place stores an order and the job that charges for it. Placed reports whether the order is new.
func (s *shop) place(ctx context.Context, o Order) (placed bool, err error) {
	err = s.q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id, customer, cents) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
			o.ID, o.Customer, o.Cents); err != nil {
			return err
		}
		result, err := s.q.EnqueueTx(ctx, tx, Charge.New(o, &queue.Options{
			Key:      queue.Forever(fmt.Sprintf("order.charge:%d", o.ID)),
			Sequence: "customer:" + o.Customer, // a declined card holds the customer's later orders back
			UserID:   o.Customer,
		}))
		placed = !result.Duplicate
		return err
	})
	return placed, err
}

func (s *shop) register(d *queue.Dispatcher) {
	queue.Handle(d, Charge, func(ctx context.Context, w *queue.Work[Order]) error {
		// If the process dies before the payment is stored, the bank is asked again, with the same key.
		payment, err := queue.Step(ctx, w, "charge", func(ctx context.Context) (string, error) {
			return s.charge(ctx, w.Job.ID, w.Payload.Customer, w.Payload.Cents)
		})
		if errors.Is(err, errDeclined) {
			return queue.Fatal(err) // failed at once: another attempt would not mend it
		}
		if err != nil {
			return err // tried again, with backoff
		}
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			if _, err := tx.ExecContext(ctx, "UPDATE orders SET payment = $1 WHERE id = $2", payment, w.Payload.ID); err != nil {
				return err
			}
			_, err := w.Queue().EnqueueTx(ctx, tx, MailReceipt.New(Receipt{w.Payload.ID, w.Payload.Customer, payment}, nil))
			return err
		})
	})
	queue.Handle(d, MailReceipt, func(ctx context.Context, w *queue.Work[Receipt]) error {
		return s.mail(ctx, w.Payload.Customer, fmt.Sprintf("Order %d is paid: %s", w.Payload.Order, w.Payload.Payment))
	})
}

func main() {
	if err := run(context.Background(), "shop.db"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string) (err error) {
	db, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migrate(ctx, db); err != nil {
		return err
	}
	q, err := queue.New(db, nil)
	if err != nil {
		return err
	}
	s := &shop{q: q,
		charge: func(_ context.Context, key, _ string, _ int) (string, error) { return "payment " + key, nil },
		mail:   func(_ context.Context, to, text string) error { _, err := fmt.Println("To "+to+":", text); return err }}
	for _, o := range []Order{{17, "ada", 4200}, {18, "ben", 999}, {17, "ada", 4200}} {
		placed, err := s.place(ctx, o)
		if err != nil {
			return err
		}
		fmt.Printf("Order %d is new: %t\n", o.ID, placed)
	}
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		return err
	}
	s.register(d)
	return d.RunUntilIdle(ctx)
}
