package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

const starsInvoices = `rules:
  - {name: Invoices, condition: {type: subject_contains, value: invoice}, action: star}
`

// A pipeline sorts the mail of an account, here at the Gmail of the test kit. A service calls Run in place of
// RunUntilIdle.
func Example() {
	if err := sortOnce(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: Invoices: star (completed)
}

func sortOnce(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "pipeline")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	server, err := gmailtest.Open(ctx, gmailtest.Config{})
	if err != nil {
		return err
	}
	ada, err := server.Account(ctx, "ada@example.org")
	if err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, filepath.Join(folder, "host.db"), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), server.Close()) }()

	if err := pipeline.Migrate(ctx, db); err != nil {
		return err
	}
	p, err := pipeline.New(pipeline.Config{
		DB: db,
		Clients: gmail.AccountClientsConfig{Endpoint: server.URL(),
			HTTPClient: func(ctx context.Context, a mailstore.Account) (*http.Client, error) {
				return server.HTTPClient(ctx, a.Email)
			}},
		Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) {
			return rulesfile.Parse("rules.yaml", strings.NewReader(starsInvoices))
		},
	})
	if err != nil {
		return err
	}
	id, err := p.AddAccount(ctx, "ada@example.org")
	if err != nil {
		return err
	}
	// What was there before is stored, and left alone.
	if _, err := ada.Deliver(ctx, []byte("From: shop@example.com\r\nSubject: Your invoice\r\n\r\n")); err != nil {
		return err
	}
	if faults, err := p.RunUntilIdle(ctx); err != nil || faults[id] != nil {
		return errors.Join(err, faults[id])
	}
	done, err := p.Ledger.Actions(ctx, safety.Filter{AccountID: id, Limit: 10})
	for _, e := range done {
		fmt.Printf("%s: %s (%s)\n", e.Decision.Decision.RuleName, e.Action.Type, e.Action.State)
	}
	return err
}
