package undo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// An archive is taken back: the message returns to the inbox, and keeps the star that its user has given it since.
func ExampleUndoer() {
	ctx := context.Background()
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	box := newMailbox() // package gmail has a real one
	cfg, err := wire(ctx, db, box)
	if err != nil {
		log.Fatal(err)
	}
	undoer, err := undo.NewUndoer(cfg)
	if err != nil {
		log.Fatal(err)
	}
	archived, err := archive(ctx, db, cfg.Ledger, box)
	if err != nil {
		log.Fatal(err)
	}
	box.change("message-1", postroom.LabelChange{Add: []string{"STARRED"}})

	if _, err := undoer.Request(ctx, archived); err != nil {
		log.Fatal(err)
	}
	d, err := queue.NewDispatcher(cfg.Queue, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := undo.Register(d, cfg); err != nil {
		log.Fatal(err)
	}
	if err := d.RunUntilIdle(ctx); err != nil {
		log.Fatal(err)
	}
	report, err := undoer.Report(ctx, archived)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("put back:", report.Restored.Add)
	fmt.Println("left alone:", report.Preserved[0].LabelID)
	fmt.Println("now:", box.image("message-1").LabelIDs)
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// put back: [INBOX]
	// left alone: STARRED
	// now: [INBOX STARRED]
}

func wire(ctx context.Context, db *sqlite.DB, box undo.Mailbox) (undo.Config, error) {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, safety.Migrate} {
		if err := migrate(ctx, db); err != nil {
			return undo.Config{}, err
		}
	}
	q, err := queue.New(db, nil)
	if err != nil {
		return undo.Config{}, err
	}
	ledger, err := safety.NewLedger(safety.Config{
		DB:      db,
		Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil }, // see archive
	})
	return undo.Config{Queue: q, Ledger: ledger, Mailbox: box}, err
}

// archive decides to archive a message and does it, as the classify and action jobs would.
func archive(ctx context.Context, db *sqlite.DB, ledger *safety.Ledger, box *mailbox) (actionID string, err error) {
	before, after := postroom.NewSnapshot([]string{"INBOX"}), postroom.NewSnapshot(nil)
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		msg := &postroom.Message{ID: "message-1", AccountID: "account-1"}
		action, err := ledger.Record(ctx, msg, postroom.Decision{
			Action: postroom.Archive, Confidence: 1, Rationale: "a newsletter", Source: postroom.SourceHost,
		})(ctx, tx)
		if err != nil {
			return err
		}
		actionID = action.ID
		if _, err := ledger.Start(ctx, tx, action.ID, "job-1"); err != nil {
			return err
		}
		box.messages[msg.ID] = after
		return ledger.Complete(ctx, tx, action.ID, postroom.UndoHint{
			InverseAction: postroom.ApplyLabel, InverseParameters: postroom.Parameters{"label": "INBOX"},
			Before: &before, After: &after,
		})
	})
	return actionID, err
}
