package gmailtest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// pushesOf returns the history ids that were published for a mailbox.
func pushesOf(server *gmailtest.Server, email string) (historyIDs []uint64) {
	for _, push := range server.Pushes() {
		if push.Email == email {
			historyIDs = append(historyIDs, push.HistoryID)
		}
	}
	return historyIDs
}

// A watch that was stopped, or not renewed for seven days, publishes nothing, and the watches of others go on.
func TestWatchesEnd(t *testing.T) {
	for name, end := range map[string]func(users *gmail.UsersService, clock *gmailtest.Clock){
		"stopped": func(users *gmail.UsersService, _ *gmailtest.Clock) { require.NoError(t, users.Stop("me").Do()) },
		"expired": func(_ *gmail.UsersService, clock *gmailtest.Clock) { clock.Move(24 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			clock := gmailtest.NewClock(noon)
			server := open(t, gmailtest.Config{Now: clock.Now})
			// What is lost is noted at once and in order, so that nobody has to wait for what does not come.
			server.FaultPushes(gmailtest.PushFault{Times: -1, Lose: true})
			published := func(email string, historyID uint64) {
				t.Helper()
				require.Eventually(t, func() bool {
					return slices.Contains(pushesOf(server, email), historyID)
				}, 10*time.Second, time.Millisecond)
			}
			users := client(t, server)
			began, err := watch(users)
			require.NoError(t, err)
			require.Equal(t, noon.Add(7*24*time.Hour).UnixMilli(), began.Expiration)
			published(server.Email(), began.HistoryId)
			ann, herUsers := another(t, server, "ann@example.com")
			clock.Move(6 * 24 * time.Hour)
			hers, err := watch(herUsers)
			require.NoError(t, err)
			published(ann.Email(), hers.HistoryId)

			_, err = server.Deliver(t.Context(), []byte("Subject: while it lives\n\n"))
			require.NoError(t, err)
			last := profile(t, users).HistoryId
			published(server.Email(), last)
			end(users, clock)
			_, err = server.Deliver(t.Context(), []byte("Subject: afterwards\n\n"))
			require.NoError(t, err)
			_, err = ann.Deliver(t.Context(), []byte("Subject: to Ann\n\n"))
			require.NoError(t, err)
			published(ann.Email(), profile(t, herUsers).HistoryId)
			require.Equal(t, []uint64{began.HistoryId, last}, pushesOf(server, server.Email()))

			renewed, err := watch(users)
			require.NoError(t, err)
			require.Greater(t, renewed.HistoryId, last)
			published(server.Email(), renewed.HistoryId)
		})
	}
}

// jwtHeader returns the first part of a token.
func jwtHeader(t *testing.T, token string) (header map[string]string) {
	t.Helper()
	first, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(first)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &header))
	return header
}

// The token of a push says what Google's says: for whom, by whom, from when and until when by the server's clock.
func TestTokensOfPushes(t *testing.T) {
	clock := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: clock.Now})
	plain, own := newReceiver(t), newReceiver(t)
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: topic, URL: plain.URL}))
	require.NoError(t, server.PushTo(gmailtest.PushTarget{
		Topic: topic, URL: own.URL, Audience: "https://app.example/", ServiceAccount: "pusher@p1.iam.gserviceaccount.com",
		Subscription: "projects/p1/subscriptions/own",
	}))
	_, err := watch(client(t, server))
	require.NoError(t, err)

	first := <-plain.got
	require.Equal(t, "projects/gmailtest/subscriptions/push", first.subscription)
	claims := verified(t, server, first.token)
	require.Equal(t, plain.URL, claims["aud"])
	require.Equal(t, strings.TrimSuffix(server.URL(), "/"), claims["iss"])
	require.Equal(t, "push@gmailtest.iam.gserviceaccount.com", claims["email"])
	require.Equal(t, true, claims["email_verified"])
	require.InDelta(t, noon.Unix(), claims["iat"], 0)
	require.InDelta(t, noon.Add(time.Hour).Unix(), claims["exp"], 0)
	var set struct{ Keys []map[string]string }
	getJSON(t, server.KeysURL(), &set)
	header := jwtHeader(t, first.token)
	require.Equal(t, "RS256", header["alg"])
	require.Equal(t, set.Keys[0]["kid"], header["kid"])

	second := <-own.got
	require.Equal(t, "projects/p1/subscriptions/own", second.subscription)
	claims = verified(t, server, second.token)
	require.Equal(t, "https://app.example/", claims["aud"])
	require.Equal(t, "pusher@p1.iam.gserviceaccount.com", claims["email"])

	clock.Move(2 * time.Hour)
	_, err = server.Deliver(t.Context(), []byte("Subject: Hi\n\n"))
	require.NoError(t, err)
	require.InDelta(t, noon.Add(3*time.Hour).Unix(), verified(t, server, (<-plain.got).token)["exp"], 0)
}

// A target receives its own topic only.
func TestTopicsAreApart(t *testing.T) {
	const other = "projects/tests/topics/other"
	server, users := serve(t, nil)
	ann, herUsers := another(t, server, "ann@example.com")
	here, there := newReceiver(t), newReceiver(t)
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: topic, URL: here.URL}))
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: other, URL: there.URL}))
	_, err := watch(users)
	require.NoError(t, err)
	_, err = herUsers.Watch("me", &gmail.WatchRequest{TopicName: other}).Do()
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, server.Email(), (<-here.got).Email)
		require.Equal(t, ann.Email(), (<-there.got).Email)
		for _, account := range []*gmailtest.Account{mustAccount(t, server), ann} {
			_, err = account.Deliver(t.Context(), []byte("Subject: Hi\n\n"))
			require.NoError(t, err)
		}
	}
}

// Pub/Sub stands behind Config.Publish: what is published there is lost, doubled and overtaken like what is pushed.
func TestATopicOfPubSub(t *testing.T) {
	hub := pstest.NewServer()
	t.Cleanup(func() { require.NoError(t, hub.Close()) })
	_, err := hub.GServer.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topic})
	require.NoError(t, err)
	server := open(t, gmailtest.Config{Publish: func(_ context.Context, topic string, data []byte) error {
		hub.Publish(topic, data, nil)
		return nil
	}})
	users := client(t, server)
	arrived := func(n int) (historyIDs []uint64) {
		t.Helper()
		require.Eventually(t, func() bool { return len(hub.Messages()) >= n }, 5*time.Minute, time.Millisecond)
		for _, message := range hub.Messages() {
			var got pushed
			require.NoError(t, json.Unmarshal(message.Data, &got))
			require.Equal(t, server.Email(), got.Email)
			historyIDs = append(historyIDs, got.HistoryID)
		}
		return historyIDs
	}
	deliver := func() uint64 {
		t.Helper()
		_, err := server.Deliver(t.Context(), []byte("Subject: Hi\n\n"))
		require.NoError(t, err)
		return profile(t, users).HistoryId
	}
	began, err := watch(users)
	require.NoError(t, err)
	require.Equal(t, []uint64{began.HistoryId}, arrived(1))

	gate := gmailtest.NewGate()
	server.FaultPushes(gmailtest.PushFault{Copies: 2}, gmailtest.PushFault{Nth: 2, Gate: gate})
	doubled := deliver()
	require.Equal(t, []uint64{began.HistoryId, doubled, doubled, doubled}, arrived(4))
	held := deliver()
	<-gate.Arrived()
	later := deliver()
	require.Equal(t, later, arrived(5)[4])
	gate.Open()
	require.Equal(t, held, arrived(6)[5], "the older one comes later")
	require.NoError(t, users.Stop("me").Do())
}

// Two servers, or one that is started again at its address, have keys of different names: who keeps keys by their
// names fetches the new one.
func TestKeysHaveNamesOfTheirOwn(t *testing.T) {
	var names []string
	for range 2 {
		server := open(t, gmailtest.Config{})
		var set struct{ Keys []map[string]string }
		getJSON(t, server.KeysURL(), &set)
		require.Len(t, set.Keys, 1)
		names = append(names, set.Keys[0]["kid"])
	}
	require.NotEmpty(t, names[0])
	require.NotEqual(t, names[0], names[1])
}

// The journal of deliveries says where each went and what was answered, and one that was refused goes on until it is
// taken.
func TestDeliveriesAreNoted(t *testing.T) {
	published := make(chan bool, 10)
	server := open(t, gmailtest.Config{Now: gmailtest.NewClock(noon).Now,
		Publish: func(context.Context, string, []byte) error {
			published <- true
			return nil
		}})
	receiver := newReceiver(t)
	receiver.statuses = []int{300, 503, 200}
	require.NoError(t, server.PushTo(gmailtest.PushTarget{Topic: topic, URL: receiver.URL, Retry: time.Nanosecond}))
	began, err := watch(client(t, server))
	require.NoError(t, err)
	want := gmailtest.Push{Topic: topic, Email: server.Email(), HistoryID: began.HistoryId,
		MessageID: (<-receiver.got).messageID}
	<-published
	require.Eventually(t, func() bool { return len(server.Pushes()) == 4 }, 5*time.Minute, time.Millisecond)
	var statuses []int
	for _, push := range server.Pushes() {
		statuses = append(statuses, push.Status)
		require.Equal(t, push.Status != 0, push.URL == receiver.URL)
		push.Status, push.URL = 0, ""
		require.Equal(t, want, push)
	}
	require.Equal(t, []int{300, 503, 200}, slices.DeleteFunc(statuses, func(status int) bool {
		return status == 0
	}), "0 is that of Config.Publish")
}
