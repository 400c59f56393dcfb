package drafting_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// What is called in a transaction reads within it: a pool whose connections all wait for another one stands still.
func TestATransactionNeedsOneConnection(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	open := func(conns string) *postgres.DB {
		db, err := postgres.Open(t.Context(), dbtest.With(t, dsn, "pool_max_conns", conns), nil)
		require.NoError(t, err)
		return db
	}
	wide := open("8")
	defer func() { require.NoError(t, wide.Close()) }()
	w := newWorld(t, wide)
	m := w.letter(1)
	labels, err := w.store.Labels(t.Context(), w.account)
	require.NoError(t, err)
	id := ""
	for _, l := range labels {
		if l.Name == needsResponse {
			id = l.ID
		}
	}
	require.NotEmpty(t, id)
	uuid, err := w.store.MessageID(t.Context(), w.account, m.ID)
	require.NoError(t, err)
	stored, err := w.store.Message(t.Context(), w.account, uuid)
	require.NoError(t, err)

	db := open("1")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	w.open(db, gmailapi.ClientConfig{Endpoint: w.server.URL(), HTTPClient: &http.Client{Transport: transport}})
	event := gmail.LabelsEvent{AccountID: w.account, ProviderID: m.ID, ThreadID: m.ThreadID, HistoryID: 1 << 40}
	on, off := event, event
	on.Change, off.Change = postroom.LabelChange{Add: []string{id}}, postroom.LabelChange{Remove: []string{id}}
	on.HistoryID--
	for name, call := range map[string]func(ctx context.Context, tx queue.Tx) error{
		"arrived": func(ctx context.Context, tx queue.Tx) error { return w.service.Arrived(ctx, tx, stored) },
		"on, off": func(ctx context.Context, tx queue.Tx) error {
			if err := w.service.LabelsChanged(ctx, tx, on); err != nil {
				return err
			}
			return w.service.LabelsChanged(ctx, tx, off)
		},
		"deleted": func(ctx context.Context, tx queue.Tx) error {
			return w.service.Deleted(ctx, tx, gmail.DeletedEvent{AccountID: w.account, ThreadID: m.ThreadID, ProviderID: m.ID})
		},
		"needed": func(ctx context.Context, tx queue.Tx) error { return w.service.Needed(ctx, tx, stored) },
		"asked": func(ctx context.Context, tx queue.Tx) error {
			return w.service.Ask(ctx, tx, drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"})
		},
	} {
		done := make(chan error, 1)
		go func() { done <- db.Write(t.Context(), call) }()
		select {
		case err := <-done:
			require.NoError(t, err, name)
		case <-time.After(30 * time.Second): // nor could the pool be closed, or the schema be dropped
			panic(name + ": it waits for a second connection")
		}
	}
	require.NoError(t, db.Close())
}
