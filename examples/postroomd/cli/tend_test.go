package cli

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// A mailbox whose server does not answer keeps no other waiting, from the first minute of a new database.
func TestAMailboxWithoutAnAnswerKeepsNoOtherWaiting(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "[schedules]\nhistory_sync = \"1s\"\n", letterNamed(1))
	t.Setenv("POSTROOM_PASSPHRASE", "correct horse")
	for _, set := range []string{"client_id=me", "auth_server=" + m.server.URL(), "tokens=file",
		"passphrase=env:POSTROOM_PASSPHRASE"} {
		m.where = append(m.where, "--set", "gmail."+set)
	}
	other, err := m.server.Account(t.Context(), neighbour)
	require.NoError(t, err)
	_, err = other.Deliver(t.Context(), []byte(letterNamed(2)))
	require.NoError(t, err)
	signInAs(t, neighbour, m.where...)
	gate := gmailtest.NewGate()
	m.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Account: neighbour, Times: -1, Gate: gate})

	r := start(t, m.where...)
	<-gate.Arrived()
	r.eventually("the other letter is sorted", func() bool { return m.states()[postroom.ActionCompleted] == 1 })
	require.NotContains(t, r.log(), "has not ended yet", "before the other one is given up for a while")
	status, body := r.get("readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, neighbour+" is being set up")
	require.NotContains(t, body, sample.Owner)
	_, err = m.server.Deliver(t.Context(), []byte(letterNamed(3)))
	require.NoError(t, err)
	r.eventually("what comes later is found by a poll", func() bool { return m.states()[postroom.ActionCompleted] == 2 })

	gate.Open()
	r.ready()
	r.eventually("all is sorted", func() bool { return m.states()[postroom.ActionCompleted] == 3 })
	r.stop()
}
