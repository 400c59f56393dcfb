package gmail

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

// clientOf makes a client of a server that answers every call with the handler.
func clientOf(t *testing.T, handler http.HandlerFunc) *gmailapi.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: server.Client(), Endpoint: server.URL})
	require.NoError(t, err)
	return c
}

// letter is a message that has been delivered and ingested; the id is ours.
func (w *world) letter(raw string) (id string, m gmailtest.Message) {
	w.t.Helper()
	m, err := w.server.Deliver(w.t.Context(), []byte(raw))
	require.NoError(w.t, err)
	w.run(NewIngestJob(w.account, m.ID))
	return w.ours(m.ID), m
}

// carryOut runs an action that sends, and returns it and the job that sent.
func (w *world) carryOut(a postroom.Action) (postroom.Action, *queue.Job) {
	w.t.Helper()
	id := w.queued(a)
	w.run(NewActionJob(w.account, id))
	jobs, err := w.queue.Jobs(w.t.Context(), queue.Filter{Types: []string{string(outbox.JobSend)}})
	require.NoError(w.t, err)
	for i := range jobs {
		if jobs[i].Key.Name == string(outbox.JobSend)+":"+w.account+":"+id {
			return w.action(id), w.job(jobs[i].ID)
		}
	}
	return w.action(id), nil
}
