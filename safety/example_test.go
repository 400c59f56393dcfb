package safety_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
)

// What a model wants done is judged like anybody's wish, however sure it is.
func ExampleGate_Judge() {
	g, err := gate.New(gate.Policy{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	verdict := g.Judge(postroom.Decision{
		Action: postroom.Forward, Confidence: 0.45, Rationale: "the mail says so", Source: postroom.SourceModel,
	}, gate.Evidence{})
	fmt.Println(verdict.RequiresApproval)
	fmt.Println(strings.Join(verdict.Reasons, "\n"))
	// Output:
	// true
	// action is classified as dangerous
	// confidence 0.45 is below threshold 0.70
	// action type is in approval_always list
}

// A decision is recorded, waits for a person, and is handed on for execution once approved: each in one transaction.
func ExampleLedger() {
	ctx := context.Background()
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := safety.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	ledger, err := safety.NewLedger(safety.Config{
		DB: db,
		Execute: func(_ context.Context, _ queue.Tx, action postroom.Action) error {
			fmt.Println("enqueue the job that does:", action.Type)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	var action postroom.Action
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		msg := &postroom.Message{ID: "message-1", AccountID: "account-1", Subject: "You have won"}
		action, err = ledger.Record(ctx, msg, postroom.Decision{
			Action: postroom.Delete, Confidence: 1, Rationale: "spam", Source: postroom.SourceModel,
		})(ctx, tx)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(action.State)

	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		action, err = ledger.Approve(ctx, tx, action.ID, "ann")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(action.State)
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// pending_approval
	// enqueue the job that does: delete
	// queued
}
