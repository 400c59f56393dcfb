package gmailtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

const topic = "projects/tests/topics/mail"

// A pushed notification is what a program learns of a change.
type pushed struct {
	Email     string `json:"emailAddress"`
	HistoryID uint64 `json:"historyId"`

	messageID, subscription, token string
}

// A receiver is a program that notifications are pushed to.
type receiver struct {
	*httptest.Server
	got chan pushed

	mu       sync.Mutex
	statuses []int // of the next answers; then 204
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{got: make(chan pushed, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var body struct {
			Message struct {
				Data        []byte
				MessageID   string
				PublishTime time.Time
			}
			Subscription string
		}
		if json.NewDecoder(request.Body).Decode(&body) != nil || body.Message.PublishTime.IsZero() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		p := pushed{
			messageID: body.Message.MessageID, subscription: body.Subscription,
			token: strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer "),
		}
		if json.Unmarshal(body.Message.Data, &p) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		status := http.StatusNoContent
		if len(r.statuses) > 0 {
			status, r.statuses = r.statuses[0], r.statuses[1:]
		}
		w.WriteHeader(status)
		r.got <- p
	}))
	t.Cleanup(r.Close)
	return r
}

func watch(users *gmail.UsersService, labels ...string) (*gmail.WatchResponse, error) {
	return users.Watch("me", &gmail.WatchRequest{TopicName: topic, LabelIds: labels, LabelFilterBehavior: "INCLUDE"}).Do()
}

func profile(t *testing.T, users *gmail.UsersService) *gmail.Profile {
	t.Helper()
	p, err := users.GetProfile("me").Do()
	require.NoError(t, err)
	return p
}

func TestChangesArePushed(t *testing.T) {
	server, users := serve(t, letters(2))
	receiver := newReceiver(t)
	target := gmailtest.PushTarget{Topic: topic, URL: receiver.URL, Audience: "postroom", Retry: time.Millisecond}
	require.NoError(t, server.PushTo(target))
	id := find(t, users, "0@example.com")

	began, err := watch(users)
	require.NoError(t, err)
	require.Equal(t, profile(t, users).HistoryId, began.HistoryId)
	require.InDelta(t, 7*24*time.Hour.Seconds(), time.Until(time.UnixMilli(began.Expiration)).Seconds(), 60)
	first := <-receiver.got
	require.Equal(t, server.Email(), first.Email, "one comes at once")
	require.Equal(t, began.HistoryId, first.HistoryID)
	require.Equal(t, "projects/gmailtest/subscriptions/push", first.subscription)
	claims := verified(t, server, first.token)
	require.Equal(t, "postroom", claims["aud"])
	require.Equal(t, "push@gmailtest.iam.gserviceaccount.com", claims["email"])
	require.Greater(t, claims["exp"], float64(time.Now().Unix()))

	_, err = modify(users, id, []string{"STARRED"}, nil)
	require.NoError(t, err)
	require.Equal(t, profile(t, users).HistoryId, (<-receiver.got).HistoryID)
	require.NoError(t, server.Person().Read(t.Context(), id))
	require.Equal(t, profile(t, users).HistoryId, (<-receiver.got).HistoryID, "what a person does")

	receiver.mu.Lock()
	receiver.statuses = []int{503, 500}
	receiver.mu.Unlock()
	require.NoError(t, server.Person().Unread(t.Context(), id))
	again := <-receiver.got
	require.Equal(t, again.messageID, (<-receiver.got).messageID, "until it is acknowledged")
	require.Equal(t, again.messageID, (<-receiver.got).messageID)

	require.NoError(t, users.Stop("me").Do())
	require.NoError(t, server.Person().Read(t.Context(), id))
	_, err = watch(users)
	require.NoError(t, err)
	require.Equal(t, profile(t, users).HistoryId, (<-receiver.got).HistoryID, "nothing was pushed in between")
}

// TestLabelsOfAWatch: what has none of them is not told of; with EXCLUDE, what has one is not.
func TestLabelsOfAWatch(t *testing.T) {
	server, users := serve(t, letters(2))
	receiver := newReceiver(t)
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: topic, URL: receiver.URL}))
	in, out := find(t, users, "0@example.com"), find(t, users, "1@example.com")
	person := server.Person()
	require.NoError(t, person.Archive(t.Context(), out))

	_, err := watch(users, "INBOX")
	require.NoError(t, err)
	<-receiver.got
	require.NoError(t, person.Star(t.Context(), out))
	require.NoError(t, person.Star(t.Context(), in))
	require.Equal(t, profile(t, users).HistoryId, (<-receiver.got).HistoryID)
	require.NoError(t, person.Archive(t.Context(), in))
	require.Equal(t, profile(t, users).HistoryId, (<-receiver.got).HistoryID, "it has left the inbox")

	_, err = users.Watch("me", &gmail.WatchRequest{TopicName: topic, LabelIds: []string{"INBOX"},
		LabelFilterAction: "exclude"}).Do()
	require.NoError(t, err)
	<-receiver.got
	require.NoError(t, person.MoveToInbox(t.Context(), in))
	require.NoError(t, person.Unstar(t.Context(), out))
	require.Equal(t, profile(t, users).HistoryId, (<-receiver.got).HistoryID)
}

func TestWatchesThatAreRefused(t *testing.T) {
	clock := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: clock.Now})
	users := client(t, server)
	for message, request := range map[string]*gmail.WatchRequest{
		"Invalid topicName":     {TopicName: "mail"},
		"Invalid label: Nobody": {TopicName: topic, LabelIds: []string{"Nobody"}},
		"label_filter_behavior": {TopicName: topic, LabelFilterBehavior: "PERHAPS"},
	} {
		_, err := users.Watch("me", request).Do()
		require.Contains(t, requireAPIError(t, err, 400, "invalidArgument").Message, message)
	}
	_, err := watch(users)
	require.NoError(t, err)
	other := &gmail.WatchRequest{TopicName: "projects/tests/topics/other"}
	_, err = users.Watch("me", other).Do()
	require.Contains(t, requireAPIError(t, err, 400, "failedPrecondition").Message,
		"Only one user push notification client allowed")
	clock.Move(7 * 24 * time.Hour)
	_, err = users.Watch("me", other).Do()
	require.NoError(t, err, "the first has expired")
	require.NoError(t, users.Stop("me").Do())
	require.NoError(t, users.Stop("me").Do(), "again")

	require.ErrorContains(t, server.PushTo(gmailtest.PushTarget{Topic: "mail"}), "projects/PROJECT/topics/TOPIC")
	require.ErrorContains(t, server.PushTo(gmailtest.PushTarget{Topic: topic}), "URL is empty")
}

// TestNotificationsOnTheirWay are lost, doubled and overtaken.
func TestNotificationsOnTheirWay(t *testing.T) {
	server, users := serve(t, letters(1))
	receiver := newReceiver(t)
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: topic, URL: receiver.URL}))
	id := find(t, users, "0@example.com")
	_, err := watch(users)
	require.NoError(t, err)
	<-receiver.got
	gate := gmailtest.NewGate()
	server.FaultPushes(gmailtest.PushFault{Lose: true}, gmailtest.PushFault{Nth: 2, Copies: 1},
		gmailtest.PushFault{Nth: 3, Gate: gate})

	require.NoError(t, server.Person().Read(t.Context(), id))
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(server.Pushes(), func(p gmailtest.Push) bool { return p.Lost })
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, server.Person().Star(t.Context(), id))
	doubled := <-receiver.got
	require.Equal(t, doubled, withToken(<-receiver.got, doubled.token))

	require.NoError(t, server.Person().Unstar(t.Context(), id))
	<-gate.Arrived()
	held := profile(t, users).HistoryId
	require.NoError(t, server.Person().Unread(t.Context(), id))
	require.Greater(t, (<-receiver.got).HistoryID, held)
	gate.Open()
	require.Equal(t, held, (<-receiver.got).HistoryID, "the older one comes later")
}

func withToken(p pushed, token string) pushed {
	p.token = token
	return p
}

// TestNotificationsArePublished to where Pub/Sub stands, until they are taken.
func TestNotificationsArePublished(t *testing.T) {
	got, refuse := make(chan string, 10), true // refuse is the publisher's alone
	server := open(t, gmailtest.Config{Publish: func(_ context.Context, to string, data []byte) error {
		if refuse {
			refuse = false
			return errors.New("unavailable")
		}
		got <- to + " " + string(data)
		return nil
	}})
	_, err := watch(client(t, server))
	require.NoError(t, err)
	require.JSONEq(t, `{"emailAddress": "you@example.com", "historyId": 1000}`, strings.TrimPrefix(<-got, topic+" "))
}

// A clock that stands still gives no two notifications one id: who leaves out duplicates by it would lose a change.
func TestNotificationsHaveIDsOfTheirOwn(t *testing.T) {
	server := open(t, gmailtest.Config{Now: gmailtest.NewClock(noon).Now})
	receiver := newReceiver(t)
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: topic, URL: receiver.URL}))
	_, err := watch(client(t, server))
	require.NoError(t, err)
	first := <-receiver.got
	_, err = server.Deliver(t.Context(), []byte("Subject: Hi\n\n"))
	require.NoError(t, err)
	require.NotEqual(t, first.messageID, (<-receiver.got).messageID)
}
