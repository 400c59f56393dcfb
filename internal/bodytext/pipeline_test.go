package bodytext_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

const newsletter = `Received: from mail.shop.example by mx.google.com with ESMTPS id 1; Mon, 2 Nov 2026 10:00:00 +0000
Authentication-Results: mx.google.com; dmarc=pass header.from=shop.example
From: Shop <news@shop.example>
To: me@example.com
List-Id: <news.shop.example>
List-Unsubscribe: <https://shop.example/off>
Subject: What is new in the garden
Content-Type: multipart/alternative; boundary=x

--x
Content-Type: text/plain

All seeds of the spring are in the shop.
--x
Content-Type: text/html

<p>All <b>seeds</b> of the spring are in the shop.</p>
--x--
`

// TestABodyIsReadOnceInAJob counts the readings of a message that is taken in, indexed for the search, decided about
// and recorded: one by the job that takes it in and, if a model decides, one by the job that asks it.
func TestABodyIsReadOnceInAJob(t *testing.T) {
	for name, test := range map[string]struct {
		phrase  string
		answers []llmtest.Turn
		want    int64
	}{
		"a rule decides":  {"seeds of the spring", nil, 1},
		"a model decides": {"tulips", []llmtest.Turn{llmtest.Decides("archive", "{}", 0.9)}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, rules.Condition{Type: rules.BodyContains, Value: test.phrase}, test.answers...)
			delivered, err := o.server.Deliver(t.Context(), []byte(newsletter))
			require.NoError(t, err)
			_, err = o.queue.Enqueue(t.Context(), gmail.NewIngestJob(o.account, delivered.ID))
			require.NoError(t, err)
			var n atomic.Int64
			require.NoError(t, o.dispatcher.RunUntilIdle(bodytext.Counting(t.Context(), &n)))
			require.Len(t, o.executed, 1)
			require.Equal(t, postroom.Archive, o.executed[0].Type)
			require.Equal(t, test.want, n.Load())
		})
	}
}

// An office takes mail in, decides by one rule that archives and otherwise by a model, and records.
type office struct {
	server     *gmailtest.Server
	queue      *queue.Queue
	dispatcher *queue.Dispatcher
	account    string
	executed   []postroom.Action
}

func newOffice(t *testing.T, condition rules.Condition, answers ...llmtest.Turn) *office {
	o := &office{server: gmailtest.NewServer(t)}
	db := dbtest.SQLite(t)
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, rulestore.Migrate,
		safety.Migrate, decide.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	mail, store := must(mailstore.New(mailstore.Config{DB: db})), must(rulestore.New(rulestore.Config{DB: db}))
	o.queue = must(queue.New(db, nil))
	o.dispatcher = must(queue.NewDispatcher(o.queue, nil))
	ledger := must(safety.NewLedger(safety.Config{DB: db, Rules: store,
		Execute: func(_ context.Context, _ queue.Tx, a postroom.Action) error {
			o.executed = append(o.executed, a)
			return nil
		}}))
	cfg := rules.Config{Messages: mail, Labels: mail, Ledger: ledger,
		Rules: must(rules.NewEngine(rules.EngineConfig{Store: store})),
		Fallback: must(decide.New(decide.Config{
			Client:    llmtest.NewScripted(t, answers...),
			Templates: must(decide.NewTemplates(decide.TemplatesConfig{DB: db})),
		}))}
	require.NoError(t, rules.Register(o.dispatcher, cfg))
	require.NoError(t, gmail.Register(o.dispatcher, gmail.Config{
		Store: mail, Ledger: ledger, Decide: must(rules.NewClassifier(cfg)).Decide,
		Clients: gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return o.client() }),
		OnMessage: func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
			_, err := o.queue.EnqueueTx(ctx, tx, rules.NewClassifyJob(msg.AccountID, msg.ID))
			return err
		},
	}))
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		if o.account, err = mail.EnsureAccount(ctx, tx, o.server.Email(), time.Time{}); err != nil {
			return err
		}
		_, err = store.Create(ctx, tx, rules.NewRule("Garden", condition, postroom.Archive, nil))
		return err
	}))
	return o
}

func (o *office) client() (*gmailapi.Client, error) {
	return gmailapi.NewClient(gmailapi.ClientConfig{
		Endpoint: o.server.URL(), Limits: gmailapi.Limits{Unlimited: true},
		HTTPClient: &http.Client{Transport: &oauth2.Transport{
			Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"}),
			Base:   &http.Transport{DisableKeepAlives: true},
		}},
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
