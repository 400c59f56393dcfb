package pipeline

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A push finds mail that no schedule looks for; only one that Google signed counts.
func TestAPushIsDecidedAbout(t *testing.T) {
	const topic, audience, signer = "projects/tests/topics/mail", "https://host.example/push", "push@tests.example"
	w := newWorld(t)
	cfg := Config{Rules: rulesOf(map[string]string{ada: archives}), Schedules: Schedules{HistorySync: -1}}
	cfg.Gmail.Topic = topic
	p := w.pipeline(cfg)
	push, err := p.NewPushHandler(gmail.PushConfig{Audience: audience, ServiceAccount: signer,
		Issuers: []string{w.server.Issuer()}, KeysURL: w.server.KeysURL(),
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	require.NoError(t, err)
	host := httptest.NewServer(push)
	t.Cleanup(host.Close)
	require.NoError(t, w.server.PushTo(gmailtest.PushTarget{Topic: topic, URL: host.URL, Audience: audience,
		ServiceAccount: signer}))
	id := w.add(p, ada)
	stop := w.run(p)
	defer stop()
	w.eventually(func() bool {
		account, err := p.Mail.Account(t.Context(), id)
		return err == nil && account.WatchExpiresAt.After(time.Now())
	})
	w.deliver(ada, tea)
	w.eventually(func() bool { return w.action(p, id) == "archive" })

	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, host.URL, http.NoBody)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer guess")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
}
