package gmail_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"time"

	"golang.org/x/oauth2"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A mailbox is brought in, and each message is handed on in the transaction that stores it.
func Example() {
	ctx := context.Background()
	server := mailboxWith("Subject: Your invoice\r\n\r\nPlease find it attached.\r\n")
	defer server.Close()

	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate} {
		if err := migrate(ctx, db); err != nil {
			log.Fatal(err)
		}
	}
	store, err := mailstore.New(mailstore.Config{DB: db})
	if err != nil {
		log.Fatal(err)
	}
	var account string
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		account, err = store.EnsureAccount(ctx, tx, server.Email(), time.Time{})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}

	client, err := gmailapi.NewClient(gmailapi.ClientConfig{
		HTTPClient: oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "secret"})),
		Endpoint:   server.URL(), // leave it out for Gmail itself
	})
	if err != nil {
		log.Fatal(err)
	}

	q, err := queue.New(db, nil)
	if err != nil {
		log.Fatal(err)
	}
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		log.Fatal(err)
	}
	err = gmail.Register(d, gmail.Config{
		Store:   store,
		Clients: gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return client, nil }),
		OnMessage: func(_ context.Context, _ queue.Tx, m *postroom.Message) error {
			fmt.Printf("%s: %q\n", m.LabelIDs, m.Subject) // or: enqueue what is to be done with it, with the transaction
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	if _, err := q.Enqueue(ctx, gmail.NewBackfillJob(account, "", "")); err != nil {
		log.Fatal(err)
	}
	if err := d.RunUntilIdle(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: [INBOX]: "Your invoice"
}

func mailboxWith(raw string) *gmailtest.Server {
	ctx := context.Background()
	server, err := gmailtest.Open(ctx, gmailtest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	service, err := server.Service(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = service.Users.Messages.Insert("me", &api.Message{
		Raw: base64.URLEncoding.EncodeToString([]byte(raw)), LabelIds: []string{"INBOX"},
	}).Do()
	if err != nil {
		log.Fatal(err)
	}
	return server
}
