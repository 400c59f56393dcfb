package rules_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

// A message is classified: the stored rules decide, and the ledger records what they decided.
func ExampleRegister() {
	ctx := context.Background()
	db := must(sqlite.OpenMemory(ctx))
	defer db.Close()
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, rulestore.Migrate,
		safety.Migrate} {
		must(0, migrate(ctx, db))
	}
	q := must(queue.New(db, nil))
	mail := must(mailstore.New(mailstore.Config{DB: db}))
	store := must(rulestore.New(rulestore.Config{DB: db}))
	ledger := must(safety.NewLedger(safety.Config{
		DB: db, Rules: store,
		Execute: func(_ context.Context, _ queue.Tx, a postroom.Action) error {
			fmt.Println("to be executed:", a.Type) // usually: enqueue gmail.NewActionJob with the transaction
			return nil
		},
	}))

	d := must(queue.NewDispatcher(q, nil))
	must(0, rules.Register(d, rules.Config{
		Messages: mail, Labels: mail, Ledger: ledger,
		Rules: must(rules.NewEngine(rules.EngineConfig{Store: store})),
	}, queue.WithConcurrency(4)))

	// The rule, the message and the job that classifies it; a program enqueues the job in gmail.Config.OnMessage.
	must(0, db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		shops := rules.Condition{Type: rules.SenderDomain, Value: "shop.example"}
		must(store.Create(ctx, tx, rules.NewRule("Shops", shops, postroom.Archive, nil)))
		account := must(mail.EnsureAccount(ctx, tx, "me@example.com", time.Time{}))
		msg := &postroom.Message{
			AccountID: account, ProviderID: "18c2f", ProviderThreadID: "18c2f",
			From: postroom.Address{Email: "hello@shop.example"},
		}
		must(mail.SaveMessage(ctx, tx, msg, 1))
		_, err := q.EnqueueTx(ctx, tx, rules.NewClassifyJob(account, msg.ID))
		return err
	}))
	must(0, d.RunUntilIdle(ctx))
	// Output: to be executed: archive
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
