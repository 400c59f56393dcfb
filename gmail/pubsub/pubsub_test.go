package pubsub

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	cloud "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	api "google.golang.org/api/gmail/v1"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"), // begins with the program
		// QUIRK: this one looks whether it is to end when its ticker ticks, every half minute.
		goleak.IgnoreTopFunction("cloud.google.com/go/pubsub/v2.(*messageIterator).streamKeepAliveHandler"),
	)
}

const (
	project      = "tests"
	topic        = "projects/tests/topics/mail"
	subscription = "projects/tests/subscriptions/mail"
	address      = "ann@example.com"
)

// A world is a Pub/Sub with a subscription, and a queue that gets the jobs.
type world struct {
	*testing.T
	cloud    *pstest.Server
	options  []option.ClientOption
	db       queue.DB
	queue    *queue.Queue
	receiver *gmail.Receiver
	warnings chan string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, cloud: pstest.NewServer(), db: dbtest.SQLite(t), warnings: make(chan string, 1000)}
	t.Cleanup(func() { _ = w.cloud.Close() })
	w.options = []option.ClientOption{
		option.WithEndpoint(w.cloud.Addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
	client, err := cloud.NewClient(t.Context(), project, w.options...)
	require.NoError(t, err)
	_, err = client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topic})
	require.NoError(t, err)
	_, err = client.SubscriptionAdminClient.CreateSubscription(t.Context(), &pubsubpb.Subscription{
		Name: subscription, Topic: topic, AckDeadlineSeconds: 10,
	})
	require.NoError(t, err)
	require.NoError(t, client.Close())

	require.NoError(t, queue.Migrate(t.Context(), w.db))
	require.NoError(t, mailstore.Migrate(t.Context(), w.db))
	store, err := mailstore.New(mailstore.Config{DB: w.db})
	require.NoError(t, err)
	require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := store.EnsureAccount(ctx, tx, address, time.Time{})
		return err
	}))
	w.queue, err = queue.New(w.db, nil)
	require.NoError(t, err)
	w.receiver, err = gmail.NewReceiver(gmail.ReceiverConfig{Queue: w.queue, Store: store, Logger: slog.New(w)})
	require.NoError(t, err)
	return w
}

// A world notes what is logged.
func (w *world) Enabled(context.Context, slog.Level) bool { return true }
func (w *world) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *world) WithGroup(string) slog.Handler            { return w }
func (w *world) Handle(_ context.Context, r slog.Record) error {
	w.warnings <- r.Message
	return nil
}

func (w *world) config() Config {
	return Config{
		Receiver: w.receiver, Subscription: subscription, Options: w.options, RetryDelay: time.Millisecond,
		Logger: slog.New(w),
	}
}

// pull pulls until stopped.
func (w *world) pull() (stop func()) {
	w.Helper()
	p, err := New(w.Context(), w.config())
	require.NoError(w, err)
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(w, <-ended)
		require.NoError(w, p.Close())
	}
}

func notification(historyID int) []byte {
	return fmt.Appendf(nil, `{"emailAddress":%q,"historyId":%d}`, address, historyID)
}

func (w *world) publish(data []byte) string { return w.cloud.Publish(topic, data, nil) }

// allAcknowledged waits until nothing is left to deliver.
func (w *world) allAcknowledged(n int) {
	w.Helper()
	require.Eventually(w, func() bool {
		messages := w.cloud.Messages()
		return len(messages) >= n && !slices.ContainsFunc(messages, func(m *pstest.Message) bool { return m.Acks == 0 })
	}, time.Minute, 5*time.Millisecond)
}

func (w *world) syncs() int {
	w.Helper()
	counts, err := w.queue.Counts(w.Context(), queue.Filter{Types: []string{string(gmail.JobHistorySync)}})
	require.NoError(w, err)
	return counts[queue.StateQueued]
}

// The whole way: Gmail is asked to publish, publishes a change, and the job that reads it is there when the message
// is acknowledged.
func TestNotificationBecomesAJob(t *testing.T) {
	w := newWorld(t)
	published := make(chan string, 10)
	server, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: address, Publish: func(_ context.Context, topic string, data []byte) error {
			published <- w.cloud.Publish(topic, data, nil)
			return nil
		}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	google, err := server.Service(t.Context())
	require.NoError(t, err)
	_, err = google.Users.Watch("me", &api.WatchRequest{TopicName: topic}).Do()
	require.NoError(t, err)
	<-published // the watch itself; a change before that would be told of in the same notification
	_, err = google.Users.Messages.Insert("me", &api.Message{
		Raw:      base64.URLEncoding.EncodeToString([]byte("From: bob@example.com\r\nSubject: Hello\r\n\r\nGood day.\r\n")),
		LabelIds: []string{"INBOX"},
	}).Do()
	require.NoError(t, err)
	<-published
	defer w.pull()()
	w.allAcknowledged(2)
	require.Equal(t, 1, w.syncs())
	require.Empty(t, w.warnings)
}

func TestMessagesThatComeTwiceAndInAnyOrder(t *testing.T) {
	w := newWorld(t)
	defer w.pull()()
	for _, id := range []int{9, 7, 8, 7, 9, 1} {
		w.publish(notification(id))
	}
	w.allAcknowledged(6)
	require.Equal(t, 1, w.syncs(), "one sync stands for all")
	require.Empty(t, w.warnings)
}

// A message of which no job can be made now comes again.
func TestMessageThatCannotBeEnqueuedComesAgain(t *testing.T) {
	w := newWorld(t)
	w.exec(`ALTER TABLE accounts RENAME TO elsewhere`)
	defer w.pull()()
	id := w.publish(notification(7))
	for range 3 {
		require.Contains(t, <-w.warnings, "is to be delivered again")
	}
	require.Zero(t, w.cloud.Message(id).Acks)
	w.exec(`ALTER TABLE elsewhere RENAME TO accounts`)
	w.allAcknowledged(1)
	require.Equal(t, 1, w.syncs())
}

func (w *world) exec(statement string) {
	w.Helper()
	require.NoError(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}))
}

// What cannot be read would come for ever.
func TestMessageThatCannotBeReadIsDropped(t *testing.T) {
	w := newWorld(t)
	defer w.pull()()
	w.publish([]byte("no JSON"))
	w.publish([]byte(`{"emailAddress":"nobody@example.com","historyId":1}`))
	w.allAcknowledged(2)
	require.Len(t, w.warnings, 2)
	require.Zero(t, w.syncs())
}

// What is published while nobody pulls waits.
func TestRunStopsWithItsContext(t *testing.T) {
	w := newWorld(t)
	w.pull()()
	id := w.publish(notification(7))
	require.Zero(t, w.cloud.Message(id).Deliveries)
	defer w.pull()()
	w.allAcknowledged(1)
	require.Equal(t, 1, w.syncs())
}

func TestErrorsSayWhatToDo(t *testing.T) {
	w := newWorld(t)
	cfg := w.config()
	cfg.Project, cfg.Subscription = project, "gone"
	p, err := New(t.Context(), cfg)
	require.NoError(t, err)
	err = p.Run(t.Context())
	require.ErrorIs(t, err, ErrNoSubscription)
	require.ErrorContains(t, err, "subscriptions create gone --project tests")
	require.NoError(t, p.Close())

	for code, want := range map[codes.Code]struct {
		is   error
		hint string
	}{
		codes.PermissionDenied: {ErrNotAllowed, "roles/pubsub.subscriber"},
		codes.Unauthenticated:  {ErrNotAllowed, "GOOGLE_APPLICATION_CREDENTIALS"},
		codes.InvalidArgument:  {nil, "subscription gone of project tests"},
	} {
		err := p.explain(fmt.Errorf("pull: %w", status.Error(code, "no")))
		require.ErrorContains(t, err, want.hint)
		require.Equal(t, want.is != nil, errors.Is(err, ErrNotAllowed))
		require.NotErrorIs(t, err, ErrNoSubscription)
	}
}

func TestConfigIsChecked(t *testing.T) {
	_, err := New(t.Context(), Config{MaxOutstanding: -1, RetryDelay: -1})
	for _, want := range []string{"Config.Receiver is nil", "Config.Subscription is", "Config.Project is empty",
		"MaxOutstanding is -1", "RetryDelay is -1ns"} {
		require.ErrorContains(t, err, want)
	}
	w := newWorld(t)
	cfg := w.config()
	cfg.MaxOutstanding = 7
	p, err := New(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 7, p.subscriber.ReceiveSettings.MaxOutstandingMessages)
	require.Equal(t, "mail", p.subscriber.ID())
	require.NoError(t, p.Close())
}
