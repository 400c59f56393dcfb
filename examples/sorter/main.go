// Sorter wires packages gmail, rules and safety by hand, for one mailbox: it shows what gmail/pipeline does for a host,
// and where a host can do otherwise. It sorts the mail that is there, and ends.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	db, err := sqlite.Open(ctx, "sorter.db", nil)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := newSorter(ctx, db, "", os.Getenv("GMAIL_TOKEN"))
	if err != nil {
		return err
	}
	newsletters := rules.NewRule("Newsletters", rules.Condition{Type: rules.HeaderPresent, Header: "List-Unsubscribe"},
		postroom.Archive, nil)
	return s.sort(ctx, os.Getenv("GMAIL_ADDRESS"), []rules.Rule{newsletters})
}

// A sorter has one of each part, all on one database.
type sorter struct {
	db     queue.DB
	queue  *queue.Queue
	mail   *mailstore.Store
	rules  *rulestore.Store
	ledger *safety.Ledger
	jobs   gmail.Config
	decide rules.Config
}

func newSorter(ctx context.Context, db queue.DB, endpoint, token string) (*sorter, error) {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, rulestore.Migrate,
		safety.Migrate} {
		if err := migrate(ctx, db); err != nil {
			return nil, err
		}
	}
	s := &sorter{db: db}
	var err error
	if s.queue, err = queue.New(db, nil); err != nil {
		return nil, err
	}
	if s.mail, err = mailstore.New(mailstore.Config{DB: db}); err != nil {
		return nil, err
	}
	if s.rules, err = rulestore.New(rulestore.Config{DB: db}); err != nil {
		return nil, err
	}
	// The ledger records what is decided, and enqueues the job that carries it out, in one transaction.
	s.ledger, err = safety.NewLedger(safety.Config{DB: db, Rules: s.rules, Labels: s.mail,
		Execute: func(ctx context.Context, tx queue.Tx, a postroom.Action) error {
			_, err := s.queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
			return err
		}})
	if err != nil {
		return nil, err
	}
	engine, err := rules.NewEngine(rules.EngineConfig{Store: s.rules, Senders: s.mail})
	if err != nil {
		return nil, err
	}
	s.decide = rules.Config{Messages: s.mail, Labels: s.mail, Ledger: s.ledger, Rules: engine}
	clients, err := gmail.NewClients(gmail.AccountClientsConfig{Store: s.mail, Endpoint: endpoint,
		HTTPClient: func(context.Context, mailstore.Account) (*http.Client, error) {
			source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})
			return &http.Client{Transport: &oauth2.Transport{Source: source}}, nil
		}})
	// Each ingested message enqueues the job that decides about it, in the transaction that stores it.
	s.jobs = gmail.Config{Store: s.mail, Clients: clients, Ledger: s.ledger, Confirm: engine.Confirm,
		OnMessage: func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
			_, err := s.queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(msg.AccountID, msg.ID))
			return err
		}}
	return s, err
}

// sort stores the rules before any mail is taken in: what is decided without them stays undecided for good.
func (s *sorter) sort(ctx context.Context, email string, list []rules.Rule) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		// A zero time has the mail sorted that is there. A service gives the time at which its user signed in.
		id, err := s.mail.EnsureAccount(ctx, tx, email, time.Time{})
		if err != nil {
			return err
		}
		if _, err := s.rules.Import(ctx, tx, id, list); err != nil {
			return err
		}
		for _, job := range []queue.NewJob{gmail.NewLabelsSyncJob(id), gmail.NewBackfillJob(id, "", ""),
			gmail.NewHistorySyncJob(id, 0)} {
			if _, err := s.queue.EnqueueTx(ctx, tx, job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	d, err := queue.NewDispatcher(s.queue, nil)
	if err != nil {
		return err
	}
	if err := gmail.Register(d, s.jobs); err != nil {
		return err
	}
	if err := rules.Register(d, s.decide); err != nil {
		return err
	}
	return d.RunUntilIdle(ctx)
}
