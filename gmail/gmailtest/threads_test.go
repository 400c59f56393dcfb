package gmailtest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

func TestThreads(t *testing.T) {
	takeout := func(raw string) mailbox.Message {
		m := letter(raw)
		m.ThreadID = "1853456789012345678"
		return m
	}
	source := &box{name: "threads", messages: []mailbox.Message{
		letter("Message-ID: <answer@example.com>\nIn-Reply-To: <question@example.com>\n\nlater, read first\n"),
		letter("Message-ID: <question@example.com>\n\n"),
		letter("Message-ID: <third@example.com>\nReferences: <lost@example.com>\n <answer@example.com>\n\n"),
		letter("Message-ID: <alone@example.com>\n\nalone\n"),
		takeout("Message-ID: <t1@example.com>\n\n"),
		takeout("Message-ID: <t2@example.com>\nIn-Reply-To: <alone@example.com>\n\nTakeout knows better\n"),
	}}
	for i := range source.messages {
		source.messages[i].Received = noon.Add(time.Duration(i) * time.Hour)
	}
	server, users := serve(t, source)
	thread := func(messageID string) string {
		m, err := server.Message(t.Context(), find(t, users, messageID+"@example.com"))
		require.NoError(t, err)
		return m.ThreadID
	}
	require.Equal(t, thread("answer"), thread("question"))
	require.Equal(t, thread("answer"), thread("third"))
	require.NotEqual(t, thread("answer"), thread("alone"))
	require.Equal(t, "19b8cd212b9df34e", thread("t1"))
	require.Equal(t, thread("t1"), thread("t2"))

	got, err := users.Threads.Get("me", thread("answer")).Format("minimal").Do()
	require.NoError(t, err)
	require.Equal(t, []string{"answer", "question", "third"}, ids(t, server, got.Messages))
	_, err = users.Threads.Get("me", "abc").Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")

	first, err := users.Threads.List("me").MaxResults(2).Do()
	require.NoError(t, err)
	require.EqualValues(t, 3, first.ResultSizeEstimate)
	require.Equal(t, thread("t1"), first.Threads[0].Id)
	require.Equal(t, "Takeout knows better", first.Threads[0].Snippet, "of the newest message")
	require.Equal(t, thread("alone"), first.Threads[1].Id)
	second, err := users.Threads.List("me").MaxResults(2).PageToken(first.NextPageToken).Do()
	require.NoError(t, err)
	require.Len(t, second.Threads, 1)
	require.Equal(t, thread("answer"), second.Threads[0].Id)
	require.Empty(t, second.NextPageToken)
}

// threadOfThree makes a thread of three messages and gives its id.
func threadOfThree(t *testing.T) (*gmailtest.Server, *gmail.UsersService, string) {
	t.Helper()
	server, users := serve(t, &box{name: "three", messages: []mailbox.Message{
		letter("Message-ID: <1@example.com>\nSubject: x\n\n"),
		letter("Message-ID: <2@example.com>\nReferences: <1@example.com>\nSubject: Re: x\n\n"),
		letter("Message-ID: <3@example.com>\nReferences: <2@example.com>\nSubject: RE: x\n\n"),
		letter("Message-ID: <4@example.com>\nReferences: <2@example.com>\nSubject: y\n\n"),
	}})
	id := find(t, users, "1@example.com")
	message, err := server.Message(t.Context(), id)
	require.NoError(t, err)
	return server, users, message.ThreadID
}

func TestThreadsChangeAsOne(t *testing.T) {
	server, users, id := threadOfThree(t)
	before := historyID(t, users)
	modified, err := users.Threads.Modify("me", id, &gmail.ModifyThreadRequest{AddLabelIds: []string{"STARRED"},
		RemoveLabelIds: []string{"UNREAD"}}).Do()
	require.NoError(t, err)
	require.Equal(t, id, modified.Id)
	require.Len(t, modified.Messages, 3)
	for _, message := range modified.Messages {
		require.Equal(t, []string{"INBOX", "STARRED"}, message.LabelIds)
	}
	require.Equal(t, []string{"INBOX", "UNREAD"}, labels(t, server, find(t, users, "4@example.com")),
		"a thread of its own")
	history, err := users.History.List("me").StartHistoryId(before).Do()
	require.NoError(t, err)
	require.Len(t, history.History, 3)

	_, err = users.Threads.Trash("me", id).Do()
	require.NoError(t, err)
	list, err := users.Threads.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Threads, 1)
	trashed, err := users.Threads.Untrash("me", id).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"STARRED"}, trashed.Messages[0].LabelIds)

	require.NoError(t, users.Threads.Delete("me", id).Do())
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
	err = users.Threads.Delete("me", id).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	_, err = users.Threads.Modify("me", id, &gmail.ModifyThreadRequest{AddLabelIds: []string{"STARRED"}}).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
}

func TestThreadFormats(t *testing.T) {
	_, users, id := threadOfThree(t)
	full, err := users.Threads.Get("me", id).Do()
	require.NoError(t, err)
	require.Len(t, full.Messages[1].Payload.Headers, 3)
	metadata, err := users.Threads.Get("me", id).Format("metadata").MetadataHeaders("subject").Do()
	require.NoError(t, err)
	require.Len(t, metadata.Messages[1].Payload.Headers, 1)
	_, err = users.Threads.Get("me", id).Format("raw").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
}

// Threads come with the newest first, by their newest message, page by page; the history id of a thread is that of
// its last change.
func TestThreadsComeNewestFirst(t *testing.T) {
	clock := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: clock.Now})
	users := client(t, server)
	var want []string
	for i := range 9 {
		clock.Move(time.Minute)
		message, err := server.Deliver(t.Context(), fmt.Appendf(nil, "Subject: %d\nMessage-ID: <%d@example.com>\n\n", i, i))
		require.NoError(t, err)
		want = append([]string{message.ThreadID}, want...)
	}
	clock.Move(time.Minute)
	answer, err := server.Deliver(t.Context(), []byte("Subject: Re: 0\nReferences: <0@example.com>\n\n"))
	require.NoError(t, err)
	want = append([]string{answer.ThreadID}, want[:8]...)
	for _, q := range []string{"", "in:inbox", "is:unread in:inbox"} {
		var got []string
		list := users.Threads.List("me").Q(q).MaxResults(4)
		for _, size := range []int{4, 4, 1} {
			page, err := list.Do()
			require.NoError(t, err)
			require.Len(t, page.Threads, size)
			for _, thread := range page.Threads {
				got = append(got, thread.Id)
			}
			list.PageToken(page.NextPageToken)
		}
		require.Equal(t, want, got, q)
	}

	first := only(t, users, "rfc822msgid:0@example.com").Id
	require.NoError(t, server.Person().Star(t.Context(), first))
	thread, err := users.Threads.Get("me", answer.ThreadID).Do()
	require.NoError(t, err)
	require.Equal(t, profile(t, users).HistoryId, thread.HistoryId)
	changed, err := users.Threads.Modify("me", answer.ThreadID,
		&gmail.ModifyThreadRequest{RemoveLabelIds: []string{"STARRED"}}).Do()
	require.NoError(t, err)
	require.Equal(t, profile(t, users).HistoryId, changed.HistoryId)
}
