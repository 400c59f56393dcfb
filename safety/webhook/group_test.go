package webhook_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/webhook"
)

// When the first request of a group expires, the receiver gets the next that waits, and the next one's expiry follows.
func TestTheNextOfAGroupIsToldWhenTheFirstExpires(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		f := newFixture(t, db)
		opened := time.Now().Add(-7*24*time.Hour - time.Hour)
		for range 3 {
			f.askInGroup(opened)
		}
		first, answered := f.askInGroup(opened), f.askInGroup(opened.Add(4*time.Hour))
		next := f.askInGroup(opened.Add(4 * time.Hour))
		f.writeAt(opened.Add(5*time.Hour), func(ctx context.Context, tx queue.Tx) error {
			_, err := f.ledger.Reject(ctx, tx, answered, "ann", "")
			return err
		})
		f.statuses = []int{http.StatusInternalServerError, http.StatusOK}
		f.work()
		told := map[string][]string{}
		for _, d := range f.deliveries()[1:] {
			of, event := d.body["data"].(map[string]any)["action_id"].(string), d.body["type"].(string)
			told[of] = append(told[of], event)
		}
		require.ElementsMatch(t, []string{webhook.EventRequested, webhook.EventExpired}, told[first])
		require.Equal(t, []string{webhook.EventRequested}, told[next])
		require.Equal(t, []string{webhook.EventRejected}, told[answered])
		jobs, err := f.queue.Jobs(t.Context(), queue.Filter{States: []queue.State{queue.StateQueued}})
		require.NoError(t, err)
		require.Len(t, jobs, 1, "the expiry of the next")
	})
}

// askInGroup asks about what a model decides about mail of one sender: after the third of a day, as a group.
func (f *fixture) askInGroup(at time.Time) (actionID string) {
	f.t.Helper()
	f.writeAt(at, func(ctx context.Context, tx queue.Tx) error {
		msg := &postroom.Message{ID: uuid.NewString(), AccountID: "account-1",
			From: postroom.Address{Email: "ann@example.com"}}
		a, err := f.ledger.Record(ctx, msg, postroom.Decision{Action: postroom.Trash, Confidence: 1, Rationale: "why",
			Source: postroom.SourceModel, Model: "some-model"})(ctx, tx)
		actionID = a.ID
		return err
	})
	return actionID
}

// What people are not asked any more is an event without an address.
func TestWhatIsNotAskedIsTold(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t))
	f.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := f.queue.EnqueueTx(ctx, tx, webhook.NewNotAskedJob(webhook.NotAsked{AccountID: "account-1", EventID: "e1"}))
		return err
	})
	f.work()
	require.Equal(t, []string{webhook.EventNotAsked}, f.types())
	require.Equal(t, map[string]any{"account_id": "account-1", "event_id": "e1"}, f.deliveries()[0].body["data"])
}

// A notice without a text is completed when it is sent.
func TestANoticeIsReadWhenItIsSent(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t))
	var err error
	f.sender, err = webhook.New(webhook.Config{Ledger: f.ledger, URL: f.server.URL, Secret: secret, AllowPrivate: true,
		ReadNotice: func(_ context.Context, n webhook.Notice) (webhook.Notice, error) {
			n.Text = "about " + n.Subject
			return n, nil
		}})
	require.NoError(t, err)
	t.Cleanup(f.sender.Close)
	f.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := f.queue.EnqueueManyTx(ctx, tx, []queue.NewJob{webhook.NewNoticeJob(webhook.Notice{Kind: "a", Subject: "1"}),
			webhook.NewNoticeJob(webhook.Notice{Kind: "b", Subject: "2", Text: "its own"})})
		return err
	})
	f.work()
	texts := map[any]bool{}
	for _, d := range f.deliveries() {
		texts[d.body["data"].(map[string]any)["text"]] = true
	}
	require.Equal(t, map[any]bool{"about 1": true, "its own": true}, texts)
}
