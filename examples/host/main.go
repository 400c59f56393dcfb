// Host is a service with three tenants. Each has a mailbox and rules of its own; the service adds a kind of action,
// which books an invoice, and a type of job, which tells the tenant. Both are written in one transaction.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A tenant has a token for a mailbox, and rules. A real service has them in its database.
type tenant struct{ token, rules string }

const (
	books  = "rules:\n  - {name: Bills, condition: {type: subject_contains, value: invoice}, action: book_invoice}\n"
	labels = "rules:\n  - {name: Bills, condition: {type: subject_contains, value: invoice}, action: star}\n"
)

// A Booking is the payload of a job that tells a tenant about an invoice.
type Booking struct {
	AccountID, MessageID string
}

const tellBooking queue.Type[Booking] = "booking.tell"

const schema = `CREATE TABLE IF NOT EXISTS bookings (action_id TEXT PRIMARY KEY, account_id TEXT, told INTEGER)`

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	tenants := map[string]tenant{
		"ada@example.org": {os.Getenv("ADA_TOKEN"), books}, "bob@example.org": {os.Getenv("BOB_TOKEN"), books},
		"eve@example.org": {os.Getenv("EVE_TOKEN"), labels},
	}
	db, err := sqlite.Open(ctx, "host.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	p, err := newHost(ctx, db, "", tenants)
	if err == nil {
		err = p.Run(ctx)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		log.Fatal(err)
	}
}

// newHost makes the pipeline of all tenants, at the Gmail of the endpoint; an empty endpoint is Google's.
func newHost(ctx context.Context, db queue.DB, endpoint string, tenants map[string]tenant) (*pipeline.Pipeline, error) {
	if err := pipeline.Migrate(ctx, db); err != nil {
		return nil, err
	}
	var p *pipeline.Pipeline
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{{
		Type: "book_invoice", Summary: "book the invoice", Danger: postroom.Reversible,
		Handler: func(_ context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
			return postroom.Outcome{Commit: func(ctx context.Context, tx postroom.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO bookings VALUES ($1, $2, 0)", a.ID, a.AccountID)
				_, lost := p.Queue.EnqueueTx(ctx, tx, tellBooking.New(Booking{a.AccountID, a.MessageID}, nil))
				return errors.Join(err, lost)
			}}, nil
		},
		Undo: func(_ context.Context, _ postroom.Run, a postroom.Action) (postroom.Commit, error) {
			return func(ctx context.Context, tx postroom.Tx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM bookings WHERE action_id = $1", a.ID)
				return err
			}, nil
		},
	}}})
	if err != nil {
		return nil, err
	}
	p, err = pipeline.New(pipeline.Config{
		DB: db, Kinds: kinds,
		Clients: gmail.AccountClientsConfig{Endpoint: endpoint,
			HTTPClient: func(_ context.Context, a mailstore.Account) (*http.Client, error) {
				token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: tenants[a.Email].token})
				return &http.Client{Transport: &oauth2.Transport{Source: token}}, nil
			}},
		Rules: func(_ context.Context, a mailstore.Account) (*rulesfile.File, error) {
			return rulesfile.Parse(a.Email, strings.NewReader(tenants[a.Email].rules), rulesfile.WithKinds(kinds))
		},
		Handlers: func(d *queue.Dispatcher) error {
			queue.Handle(d, tellBooking, func(ctx context.Context, w *queue.Work[Booking]) error {
				return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, "UPDATE bookings SET told = 1 WHERE account_id = $1", w.Payload.AccountID)
					return err
				})
			})
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	for email := range tenants {
		if _, err := p.AddAccount(ctx, email); err != nil {
			return nil, err
		}
	}
	return p, db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, schema)
		return err
	})
}
