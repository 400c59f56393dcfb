package cli

import (
	"context"
	"path/filepath"
	"testing"

	cloud "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// Without any poll, and without an address that anybody could post to, new mail is heard of by pulling.
func TestNewMailIsHeardOfByPulling(t *testing.T) {
	const topic = "projects/p/topics/gmail"
	hub := pstest.NewServer()
	t.Cleanup(func() { _ = hub.Close() })
	t.Setenv("PUBSUB_EMULATOR_HOST", hub.Addr)
	client, err := cloud.NewClient(t.Context(), "p")
	require.NoError(t, err)
	_, err = client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topic})
	require.NoError(t, err)
	_, err = client.SubscriptionAdminClient.CreateSubscription(t.Context(), &pubsubpb.Subscription{
		Name: "projects/p/subscriptions/gmail-sub", Topic: topic, AckDeadlineSeconds: 60,
	})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	server := newGmailWith(t, gmailtest.Config{Publish: func(_ context.Context, topic string, data []byte) error {
		hub.Publish(topic, data, nil)
		return nil
	}})

	where := []string{"--config", configure(t, server, "[schedules]\nhistory_sync = \"0s\"\n"), "--data",
		filepath.Join(t.TempDir(), "data")}
	where = append(where, "--set", "gmail.topic="+topic, "--set", "gmail.use_pubsub=true", "--set",
		"gmail.subscription=gmail-sub")
	d := start(t, where...)
	d.ready()
	d.eventually("all is sorted, and watched", func() bool {
		return idle(t, server, where...) && server.Counts()[gmailtest.Watch] > 0
	})
	_, err = server.Deliver(t.Context(),
		[]byte("From: a@example.com\r\nSubject: late\r\nMessage-ID: <late@example.com>\r\n\r\nhello"))
	require.NoError(t, err)
	d.eventually("new mail is taken in", func() bool { return idle(t, server, where...) })
	d.stop()
}

func TestNotificationsAreConfiguredInFull(t *testing.T) {
	file := configure(t, newGmail(t), "")
	topic := []string{"--set", "gmail.topic=projects/p/topics/gmail"}
	for want, set := range map[string][]string{
		"gmail.topic is set, and nothing takes":           topic,
		"gmail.subscription is not set":                   append(topic, "--set", "gmail.use_pubsub=true"),
		"gmail.topic is not set":                          {"--set", "gmail.use_pubsub=true", "--set", "gmail.subscription=s"},
		"gmail.use_pubsub is not true":                    {"--set", "gmail.subscription=s"},
		"and gmail.topic is not; name the topic":          {"--set", "gmail.push_audience=me", "--set", "gmail.push_account=a@example.com"},
		"write the id of a subscription, without slashes": {"--set", "gmail.subscription=projects/p/subscriptions/s"},
	} {
		r := postroomd(t, append([]string{"run", "--once", "--config", file, "--data", filepath.Join(t.TempDir(), "data")},
			set...)...)
		require.NotEqual(t, 0, r.status)
		require.Contains(t, r.stderr, want)
	}
}
