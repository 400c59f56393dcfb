package gmailtest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A copy that was not finished is no mailbox: nothing is left of it, and the folder can be saved to again.
func TestASaveThatIsGivenUp(t *testing.T) {
	server := open(t, gmailtest.Config{})
	for i := range 4 {
		_, err := server.Deliver(t.Context(), fmt.Appendf(nil, "Subject: %d\nContent-Type: application/octet-stream\n\n%s",
			i, strings.Repeat("x", 8<<20)))
		require.NoError(t, err)
	}
	dir := t.TempDir()
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	saved := make(chan error, 1)
	go func() { saved <- server.Save(ctx, dir) }()
	require.Eventually(t, func() bool { // it has begun to write
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) > 0
	}, 10*time.Second, 50*time.Microsecond)
	giveUp()
	err := <-saved
	entries, readErr := os.ReadDir(dir)
	require.NoError(t, readErr)
	if err == nil { // nobody could give up in time
		require.Len(t, entries, 1)
	} else {
		require.Empty(t, entries, "nothing is left")
		require.NoError(t, server.Save(t.Context(), dir))
	}
	count, err := open(t, gmailtest.Config{Dir: dir}).Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, count)
}

// What is not a state of this package is refused by its name.
func TestStatesThatAreNone(t *testing.T) {
	whole := t.TempDir()
	server, _ := serve(t, letters(50))
	saved := filepath.Join(whole, "saved")
	require.NoError(t, server.Save(t.Context(), saved))
	state, err := os.ReadFile(filepath.Join(saved, "gmailtest.db"))
	require.NoError(t, err)
	for want, content := range map[string][]byte{
		"file is not a database": []byte(strings.Repeat("no database\n", 1000)),
		"malformed":              state[:len(state)/2],
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "gmailtest.db"), content, 0o600))
		_, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: dir})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, dir)
	}
}

// A server that starts from a saved state goes on where the other was: history, threads, drafts, labels, words,
// watches, grants and settings.
func TestASavedStateGoesOn(t *testing.T) {
	clock := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: clock.Now})
	ann, herUsers := another(t, server, "ann@example.com")
	users := client(t, server)
	asked, err := server.Deliver(t.Context(),
		[]byte("From: b@example.com\nSubject: Tea\nMessage-ID: <tea@example.com>\n\nAt five o'clock?\n"))
	require.NoError(t, err)
	require.NoError(t, server.CreateLabels(t.Context(), "First"))
	draft, err := users.Drafts.Create("me", draftOf("To: b@example.com\nSubject: Later\n\n", "")).Do()
	require.NoError(t, err)
	_, err = herUsers.Settings.Filters.Create("me", &gmail.Filter{
		Criteria: &gmail.FilterCriteria{Subject: "news"}, Action: &gmail.FilterAction{AddLabelIds: []string{"STARRED"}},
	}).Do()
	require.NoError(t, err)
	_, err = watch(users)
	require.NoError(t, err)
	owner := mustAccount(t, server)
	token, err := owner.Grant(t.Context(), modifyScope)
	require.NoError(t, err)
	before := profile(t, users)
	dir := filepath.Join(t.TempDir(), "saved")
	require.NoError(t, server.Save(t.Context(), dir))

	published := make(chan string, 10)
	copied := open(t, gmailtest.Config{Dir: dir, Now: clock.Now,
		Publish: func(_ context.Context, _ string, data []byte) error {
			published <- string(data)
			return nil
		}})
	again := client(t, copied)
	after := profile(t, again)
	require.Equal(t, []any{before.HistoryId, before.MessagesTotal, before.ThreadsTotal},
		[]any{after.HistoryId, after.MessagesTotal, after.ThreadsTotal})
	_, err = newApp(t, copied).service(token).GetProfile("me").Do()
	require.NoError(t, err, "tokens are still good")
	refreshed, err := newApp(t, copied).refreshed(token.RefreshToken)
	require.NoError(t, err)
	require.NotEmpty(t, refreshed.AccessToken)
	only(t, again, "five subject:tea")

	answer, err := copied.Deliver(t.Context(), []byte("Subject: Re: Tea\nReferences: <tea@example.com>\n\nFine.\n"))
	require.NoError(t, err)
	require.Equal(t, asked.ThreadID, answer.ThreadID)
	require.NotEqual(t, asked.ID, answer.ID)
	history, err := again.History.List("me").StartHistoryId(before.HistoryId).Do()
	require.NoError(t, err)
	require.Len(t, history.History, 1)
	require.Equal(t, answer.ID, history.History[0].MessagesAdded[0].Message.Id)
	require.Greater(t, history.History[0].Id, before.HistoryId)
	for want := ""; !strings.Contains(want, strconv.FormatUint(history.HistoryId, 10)); {
		want = <-published // the watch goes on; it may publish what it did before as well
	}

	label, err := again.Labels.Create("me", &gmail.Label{Name: "Second"}).Do()
	require.NoError(t, err)
	require.Equal(t, "Label_2", label.Id, "no id is given twice")
	sent, err := again.Drafts.Send("me", &gmail.Draft{Id: draft.Id}).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"SENT"}, sent.LabelIds)
	hers, err := copied.Account(t.Context(), ann.Email())
	require.NoError(t, err)
	news, err := hers.Deliver(t.Context(), []byte("Subject: news\n\n"))
	require.NoError(t, err)
	require.Contains(t, news.Labels, "STARRED")

	original, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, original, "the first server does not see it")
}
