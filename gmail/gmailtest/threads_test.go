package gmailtest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
