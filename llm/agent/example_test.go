package agent_test

import (
	"context"
	"log"
	"os"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// The parts of a program: its queue, its mail, its ledger, the actions that it carries out, and a model.
var (
	db         queue.DB
	q          *queue.Queue
	dispatcher *queue.Dispatcher
	store      *mailstore.Store
	ledger     *safety.Ledger
	kinds      *postroom.Kinds
	small      llm.Client
)

// An indexed mailbox finds the mail with one address in the index.
type indexed struct{ *mailstore.Store }

func (m indexed) Received(ctx context.Context, accountID, from, words string, limit int) ([]*postroom.Message, error) {
	page, err := m.Search(ctx, accountID, mailindex.Search{Query: "from:" + from + " " + words, Limit: limit})
	return page.Messages, err
}

func (m indexed) Sent(ctx context.Context, accountID, to string, limit int) ([]*postroom.Message, error) {
	page, err := m.Search(ctx, accountID, mailindex.Search{Query: "in:sent to:" + to, Limit: limit})
	return page.Messages, err
}

func Example() {
	ctx := context.Background()
	profiles, err := agent.ReadProfiles(os.DirFS("agents"))
	if err != nil {
		log.Fatal(err)
	}
	a, err := agent.New(agent.Config{
		DB: db, Ledger: ledger, Kinds: kinds, Profiles: profiles, Clients: map[string]llm.Client{"small": small},
		Mail: store, Labels: store, Correspondence: indexed{store},
		Own: func(ctx context.Context, accountID string) ([]string, error) {
			account, err := store.Account(ctx, accountID)
			return []string{account.Email}, err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := agent.Register(dispatcher, a); err != nil {
		log.Fatal(err)
	}
	msg, err := store.Message(ctx, "the id of an account", "the id of a message")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := q.Enqueue(ctx, agent.NewJob(msg, "support")); err != nil {
		log.Fatal(err)
	}
}
