package gmailtest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

func snapshot(t *testing.T, server *gmailtest.Server) []gmailtest.Message {
	t.Helper()
	messages, err := server.Snapshot(t.Context())
	require.NoError(t, err)
	return messages
}

func TestImportIsIdempotent(t *testing.T) {
	server, users := serve(t, nil)
	var progress []int
	_, err := server.Import(t.Context(), nil, nil)
	require.ErrorContains(t, err, "gmailtest: Import: source is nil; it is required: give a mailbox")
	added, err := server.Import(t.Context(), letters(450), func(done int) { progress = append(progress, done) })
	require.NoError(t, err)
	require.Equal(t, 450, added)
	require.Equal(t, []int{200, 400, 450}, progress)
	before := snapshot(t, server)
	start := historyID(t, users)

	added, err = server.Import(t.Context(), letters(450), nil)
	require.NoError(t, err)
	require.Zero(t, added)
	require.Equal(t, before, snapshot(t, server))
	require.Equal(t, start, historyID(t, users), "nothing happened")

	other, _ := serve(t, letters(450))
	require.Equal(t, before, snapshot(t, other), "ids follow from the mailbox")
	position, err := server.Position(t.Context(), find(t, users, "449@example.com"))
	require.NoError(t, err)
	require.Equal(t, 450, position)
	_, err = server.Position(t.Context(), "abc")
	require.ErrorIs(t, err, gmailtest.ErrNoMessage)
	_, err = server.Message(t.Context(), "abc")
	require.ErrorIs(t, err, gmailtest.ErrNoMessage)
}

func TestImportOfAMailboxThatChanged(t *testing.T) {
	server, users := serve(t, letters(3))
	deleted := find(t, users, "2@example.com")
	require.NoError(t, users.Messages.Delete("me", deleted).Do())

	changed := letters(5)
	changed.messages = changed.messages[1:] // the first one is gone: all places shift
	added, err := server.Import(t.Context(), changed, nil)
	require.NoError(t, err)
	require.Equal(t, 2, added, "the deleted one does not come back")
	require.Len(t, snapshot(t, server), 4)
}

func TestImportKeepsCopiesApart(t *testing.T) {
	twice := letters(1)
	twice.messages = append(twice.messages, twice.messages[0])
	server, _ := serve(t, twice)
	require.Len(t, snapshot(t, server), 2)
	other := letters(1)
	other.name = "another mailbox"
	added, err := server.Import(t.Context(), other, nil)
	require.NoError(t, err)
	require.Equal(t, 1, added)
}

func TestImportGoesOnAfterAnError(t *testing.T) {
	server, _ := serve(t, nil)
	broken := letters(250)
	broken.err = errBroken
	added, err := server.Import(t.Context(), broken, nil)
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, 250, added, "what came before the error is kept")
	added, err = server.Import(t.Context(), letters(300), nil)
	require.NoError(t, err)
	require.Equal(t, 50, added)

	_, err = server.Import(cancelled(t), letters(400), nil)
	require.Error(t, err)
	require.Len(t, snapshot(t, server), 300)
}

func TestImportOfLabelsAndFlags(t *testing.T) {
	flagged := func(f mailbox.Flags) mailbox.Message {
		m := letter(fmt.Sprintf("Subject: %+v\n\n", f))
		m.Flags = f
		return m
	}
	for name, test := range map[string]struct {
		message mailbox.Message
		want    []string
	}{
		"nothing known":    {letter("\n"), []string{"INBOX", "UNREAD"}},
		"seen":             {flagged(mailbox.Flags{Seen: true, Answered: true}), []string{"INBOX"}},
		"flagged":          {flagged(mailbox.Flags{Flagged: true}), []string{"INBOX", "STARRED", "UNREAD"}},
		"trashed":          {flagged(mailbox.Flags{Trashed: true, Seen: true}), []string{"TRASH"}},
		"draft":            {flagged(mailbox.Flags{Draft: true, Seen: true}), []string{"DRAFT"}},
		"Takeout":          {letter("\n", "Inbox", "Opened", "Important", "Category Promotions", "Büro/Ablage"), []string{"Büro/Ablage", "CATEGORY_PROMOTIONS", "IMPORTANT", "INBOX"}},
		"Takeout, sent":    {letter("\n", "Sent", "Opened"), []string{"SENT"}},
		"Takeout, draft":   {letter("\n", "Drafts"), []string{"DRAFT"}},
		"Takeout, spam":    {letter("\n", "Spam", "Unread"), []string{"SPAM", "UNREAD"}},
		"archived":         {letter("\n", "Archived", "Starred", "Category Personal"), []string{"CATEGORY_PERSONAL", "STARRED"}},
		"the same twice":   {letter("\n", "Work", "work", "INBOX", "Inbox"), []string{"INBOX", "Work"}},
		"a reserved name":  {letter("\n", "Snoozed", "Opened"), []string{"_Snoozed"}},
		"slashes at ends":  {letter("\n", "/a//b/", "Opened"), []string{"a/b"}},
		"a long name":      {letter("\n", strings.Repeat("x", 224)+"/y", "Opened"), []string{strings.Repeat("x", 224)}},
		"labels, but none": {mailbox.Message{Raw: []byte("\n"), Labeled: true, Received: noon}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server, _ := serve(t, &box{name: "flags", messages: []mailbox.Message{test.message}})
			require.ElementsMatch(t, test.want, snapshot(t, server)[0].Labels)
		})
	}
}

func TestImportOfNothing(t *testing.T) {
	server, users := serve(t, &box{name: "empty", messages: []mailbox.Message{{}, {}}})
	require.Len(t, snapshot(t, server), 2, "an empty message is one")
	list, err := users.Messages.List("me").Do()
	require.NoError(t, err)
	got, err := users.Messages.Get("me", list.Messages[0].Id).Format("raw").Do()
	require.NoError(t, err)
	require.Empty(t, got.Raw)
	require.Zero(t, got.InternalDate)
}

func TestImportKeepsProblemsAside(t *testing.T) {
	source := letters(3)
	source.messages[1] = mailbox.Message{Name: "b.eml", Problem: "its file cannot be read"}
	server, _ := serve(t, source)
	require.Len(t, snapshot(t, server), 2)
	for range 2 {
		refused, err := server.Refused(t.Context())
		require.NoError(t, err)
		require.Equal(t, []gmailtest.Refused{{Mailbox: "letters", Position: 2, Name: "b.eml",
			Problem: "its file cannot be read"}}, refused)
		_, err = server.Import(t.Context(), source, nil)
		require.NoError(t, err)
	}
	added, err := server.Import(t.Context(), letters(3), nil)
	require.NoError(t, err)
	require.Equal(t, 1, added, "by now it can be read")
	refused, err := server.Refused(t.Context())
	require.NoError(t, err)
	require.Empty(t, refused)
}

func TestSampleMailbox(t *testing.T) {
	server, users := serve(t, sample.Mailbox())
	require.Equal(t, sample.Owner, server.Email())
	require.NoError(t, server.CreateLabels(t.Context(), sample.Labels...))
	list, err := users.Messages.List("me").IncludeSpamTrash(true).MaxResults(500).Do()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(list.Messages), 66)
	for _, m := range list.Messages {
		full, err := users.Messages.Get("me", m.Id).Do()
		require.NoError(t, err)
		require.NotNil(t, full.Payload)
	}
	snippet := func(messageID string) string {
		m, err := users.Messages.Get("me", find(t, users, messageID)).Format("minimal").Do()
		require.NoError(t, err)
		return m.Snippet
	}
	require.Contains(t, snippet("charset-koi8-r@prichal.example"), "Я взяла два билета")
	require.Contains(t, snippet("charset-iso-2022-jp@umikaze.example"), "来週の水曜日")
	require.Contains(t, snippet("invitation-review@lowwater.example"), "Tide API review")
	picnic, err := server.Message(t.Context(), find(t, users, "picnic-4@family.example"))
	require.NoError(t, err)
	thread, err := users.Threads.Get("me", picnic.ThreadID).Format("minimal").Do()
	require.NoError(t, err)
	require.Len(t, thread.Messages, 4)
}

func TestStateSurvivesClosing(t *testing.T) {
	dir := t.TempDir() + "/new/folder"
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: dir, Email: "ann@example.com"})
	require.NoError(t, err)
	_, err = server.Import(t.Context(), letters(5), nil)
	require.NoError(t, err)
	before := snapshot(t, server)
	require.NoError(t, server.Close())

	again, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: dir})
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", again.Email())
	require.Equal(t, before, snapshot(t, again))
	require.NoError(t, again.Close())

	_, err = gmailtest.Open(t.Context(), gmailtest.Config{Dir: dir, Email: "ben@example.com"})
	require.ErrorContains(t, err, "belongs to ann@example.com")
	file := dir + "/file"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = gmailtest.Open(t.Context(), gmailtest.Config{Dir: file})
	require.ErrorContains(t, err, "gmailtest: ")
}
