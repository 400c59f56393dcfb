package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU"

// toldAt is the configuration of a webhook.
func toldAt(t *testing.T, url string) string {
	t.Helper()
	t.Setenv("TEST_WEBHOOK_SECRET", webhookSecret)
	return "[webhook]\nurl = \"" + url + "\"\nsecret = \"env:TEST_WEBHOOK_SECRET\"\nallow_private = true\n"
}

// A run that is to end does not wait for what is stopped, though there are jobs for later as well.
func TestRunOnceEndsWhileAllIsStopped(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer receiver.Close()
	m := newTeatime(t, deleteTea, toldAt(t, receiver.URL), letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	require.Equal(t, 0, m.postroomd("stop").status)
	id := m.actions()[0].ID
	r := m.postroomd("approvals", "approve", id)
	require.Equal(t, 0, r.status, r.stderr)
	runOnce(t, m.where...)
	require.Zero(t, m.server.Counts()[gmailtest.MessagesDelete])
	require.Equal(t, 0, m.postroomd("resume").status)
	runOnce(t, m.where...)
	require.Equal(t, 1, m.server.Counts()[gmailtest.MessagesDelete])
}

// Nor does it wait for an address that is told of requests and does not answer.
func TestRunOnceEndsThoughAWebhookIsDown(t *testing.T) {
	receiver := httptest.NewServer(http.NotFoundHandler())
	receiver.Close()
	m := newTeatime(t, deleteTea, toldAt(t, receiver.URL), letterNamed(1))
	runOnce(t, m.where...)
	require.Len(t, m.actions(), 1)
}

// What waits in a mailbox that is removed is withdrawn, and those who were asked are told.
func TestARemovedMailboxWithdrawsItsRequests(t *testing.T) {
	m, server := atDiscord(t, deleteTea, letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	r := m.postroomd("accounts", "remove", "you@example.com")
	require.Equal(t, 0, r.status, r.stderr)
	for _, a := range m.actions() {
		require.Equal(t, postroom.ActionCanceled, a.State)
	}
	runOnce(t, m.where...)
	withdrawn := 0
	for _, message := range server.Messages() {
		if strings.Contains(message.Text(), "the mailbox was removed") {
			withdrawn++
		}
	}
	require.Equal(t, 2, withdrawn)
	require.Equal(t, 0, m.postroomd("audit", "verify").status)
}

// Rules that are applied in a dry run are only counted: the batch can be done afterwards, under its name.
func TestApplyInADryRunRecordsNothing(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2))
	where := m.where
	m.where = append(append([]string{}, where...), "--set", "safety.dry_run=true")
	runOnce(t, m.where...)
	apply := func() (v appliedView) {
		r := m.postroomd("rules", "apply", "--batch", "b1", "--json")
		require.Equal(t, 0, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
		return v
	}
	require.Equal(t, 2, apply().Actions["archive"])
	require.Len(t, m.actions(), 2, "those of the run")
	m.where = where
	require.Equal(t, 2, apply().Actions["archive"])
	runOnce(t, m.where...)
	require.Equal(t, 2, m.server.Counts()[gmailtest.MessagesModify])
}

// What a dry run has left out is no reason to stop anybody.
func TestADryRunOpensNoBreaker(t *testing.T) {
	server := newGmail(t)
	where := []string{"--config", configure(t, server, "[safety]\nbreaker_actions = 5\n"), "--data", filepath.Join(t.TempDir(), "data")}
	runOnce(t, append(where, "--dry-run")...)
	r := postroomd(t, append([]string{"status"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.NotContains(t, r.stdout, "is stopped")
}
