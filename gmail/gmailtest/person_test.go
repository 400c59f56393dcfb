package gmailtest_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

func TestWhatAPersonDoes(t *testing.T) {
	server, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	server.Fault(gmailtest.Fault{Times: -1, Status: 500})
	ctx, p := t.Context(), server.Person()
	for _, step := range []struct {
		do   func() error
		want []string
	}{
		{func() error { return p.Read(ctx, id) }, []string{"INBOX"}},
		{func() error { return p.Unread(ctx, id) }, []string{"INBOX", "UNREAD"}},
		{func() error { return p.Star(ctx, id) }, []string{"INBOX", "STARRED", "UNREAD"}},
		{func() error { return p.Unstar(ctx, id) }, []string{"INBOX", "UNREAD"}},
		{func() error { return p.Archive(ctx, id) }, []string{"UNREAD"}},
		{func() error { return p.Trash(ctx, id) }, []string{"TRASH", "UNREAD"}},
		{func() error { return p.Spam(ctx, id) }, []string{"SPAM", "UNREAD"}},
		{func() error { return p.MoveToInbox(ctx, id) }, []string{"INBOX", "UNREAD"}},
		{func() error { return p.Label(ctx, "Bills", id) }, []string{"Bills", "INBOX", "UNREAD"}},
		{func() error { return p.MoveTo(ctx, "Work", id) }, []string{"Bills", "UNREAD", "Work"}},
		{func() error { return p.RenameLabel(ctx, "Work", "Job") }, []string{"Bills", "Job", "UNREAD"}},
		{func() error { return p.DeleteLabel(ctx, "Job") }, []string{"Bills", "UNREAD"}},
		{func() error { return p.Unlabel(ctx, "Bills", id) }, []string{"UNREAD"}},
	} {
		require.NoError(t, step.do())
		require.Equal(t, step.want, slices.Sorted(slices.Values(labels(t, server, id))))
	}
	calls := len(server.Calls())
	require.NoError(t, p.Delete(ctx, id))
	require.ErrorIs(t, p.Delete(ctx, id), gmailtest.ErrNoMessage)
	require.ErrorIs(t, p.Star(ctx, id), gmailtest.ErrNoMessage)
	require.ErrorIs(t, p.DeleteLabel(ctx, "Nothing"), gmailtest.ErrNoLabel)
	require.ErrorIs(t, p.RenameLabel(ctx, "Nothing", "Else"), gmailtest.ErrNoLabel)
	require.ErrorIs(t, p.Unlabel(ctx, "Nothing"), gmailtest.ErrNoLabel)
	require.ErrorContains(t, p.Unlabel(ctx, "INBOX", "0"), "no such message")
	require.Len(t, server.Calls(), calls, "they are no calls")
	server.ClearFaults()
	history, err := users.History.List("me").StartHistoryId(1000).Do()
	require.NoError(t, err)
	require.Greater(t, len(history.History), 13, "and make history")
}

func TestQuotaIsOfEachAccount(t *testing.T) {
	clock := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: clock.Now, Quota: gmailtest.Quota{PerMinute: 5}})
	ann, err := server.Account(t.Context(), "ann@example.com")
	require.NoError(t, err)
	service, err := ann.Service(t.Context())
	require.NoError(t, err)
	users := client(t, server)
	_, err = users.Messages.List("me").Do()
	require.NoError(t, err)
	clock.Move(30 * time.Second)
	_, err = users.Messages.List("me").Do()
	require.Equal(t, "30", requireAPIError(t, err, 429, "rateLimitExceeded").Header.Get("Retry-After"))
	_, err = service.Users.Messages.List("me").Do()
	require.NoError(t, err, "another account")
	calls := server.Calls()
	require.Equal(t, "ann@example.com", calls[2].Account)
	require.Equal(t, server.Email(), calls[1].Account)
	require.Equal(t, noon.Add(30*time.Second), calls[1].At)
}

func TestConcurrentCalls(t *testing.T) {
	server := open(t, gmailtest.Config{Quota: gmailtest.Quota{Concurrent: 1}})
	users := client(t, server)
	gate := gmailtest.NewGate()
	server.Fault(gmailtest.Fault{Gate: gate})
	answered := profileLater(t.Context(), users)
	<-gate.Arrived()
	_, err := users.GetProfile("me").Do()
	require.Contains(t, requireAPIError(t, err, 429, "rateLimitExceeded").Message, "Too many concurrent requests")
	gate.Open()
	require.NoError(t, <-answered)
	_, err = users.GetProfile("me").Do()
	require.NoError(t, err)
}

func TestFaultsOfOneAccount(t *testing.T) {
	server := open(t, gmailtest.Config{})
	ann, err := server.Account(t.Context(), "ann@example.com")
	require.NoError(t, err)
	service, err := ann.Service(t.Context())
	require.NoError(t, err)
	server.Fault(gmailtest.Fault{Account: "ANN@example.com", Times: -1, Status: 503})
	_, err = client(t, server).GetProfile("me").Do()
	require.NoError(t, err)
	_, err = service.Users.GetProfile("me").Do()
	requireAPIError(t, err, 503, "backendError")
}

func TestTruncatedAndDelayedAnswers(t *testing.T) {
	server, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Truncate: true, Delay: time.Millisecond})
	_, err := modify(users, id, []string{"STARRED"}, nil)
	require.ErrorContains(t, err, "unexpected EOF")
	require.NotErrorAs(t, err, new(*googleapi.Error))
	require.Contains(t, labels(t, server, id), "STARRED", "it was done")
	calls := server.Calls()
	require.True(t, calls[len(calls)-1].Cut)
	require.JSONEq(t, `{"addLabelIds": ["STARRED"]}`, calls[len(calls)-1].Body)

	server.Fault(gmailtest.Fault{Delay: time.Hour})
	_, err = users.GetProfile("me").Context(cancelled(t)).Do()
	require.Error(t, err)
}

func TestSavedState(t *testing.T) {
	server, users := serve(t, letters(2))
	dir := filepath.Join(t.TempDir(), "saved")
	require.NoError(t, server.Save(t.Context(), dir))
	require.ErrorContains(t, server.Save(t.Context(), dir), "has a mailbox already")
	require.NoError(t, server.Person().Delete(t.Context(), find(t, users, "0@example.com")))

	copied := open(t, gmailtest.Config{Dir: dir})
	require.NoError(t, copied.Person().Star(t.Context(), find(t, client(t, copied), "0@example.com")))
	count, err := copied.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, count)
	require.Error(t, server.Save(t.Context(), filepath.Join(dir, "gmailtest.db")))
}

func TestListenWhereAsked(t *testing.T) {
	_, err := gmailtest.Open(t.Context(), gmailtest.Config{Listen: "nowhere"})
	require.ErrorContains(t, err, "nowhere")
	server := open(t, gmailtest.Config{Listen: "localhost:0"})
	_, err = client(t, server).Labels.Create("me", &gmail.Label{Name: "A"}).Do()
	require.NoError(t, err)
}
