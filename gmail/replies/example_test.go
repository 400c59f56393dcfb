package replies_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A host reports what it learns of a mailbox, and writes the drafts in handlers of its own.
func Example() {
	ctx := context.Background()
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := errors.Join(queue.Migrate(ctx, db), replies.Migrate(ctx, db)); err != nil {
		log.Fatal(err)
	}
	q, err := queue.New(db, nil)
	if err != nil {
		log.Fatal(err)
	}
	store, err := replies.New(replies.Config{DB: db, Queue: q})
	if err != nil {
		log.Fatal(err)
	}
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		log.Fatal(err)
	}
	queue.Handle(d, replies.JobDraft, func(ctx context.Context, w *queue.Work[replies.Work]) error {
		reply, current, err := store.Current(ctx, w.Payload)
		if err != nil || !current {
			return err
		}
		fmt.Println("write the draft", reply.DraftKey(), "that answers", reply.MessageID)
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := store.Drafted(ctx, tx, w.Payload)
			return err
		})
	})
	for range 2 { // a push may come twice
		err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := store.Needed(ctx, tx, "ada", "18c2", "18c2f")
			return err
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := d.RunUntilIdle(ctx); err != nil { // a service calls Run
		log.Fatal(err)
	}
	reply, err := store.Reply(ctx, "ada", "18c2")
	fmt.Println(reply.State, err)
	// Output:
	// write the draft reply:18c2:1 that answers 18c2f
	// drafted <nil>
}
