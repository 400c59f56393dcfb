package drafting_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/replies"
)

// A conversation of 200 messages has one draft, and the writer sees its end.
func TestAConversationOf200Messages(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	var ids []string
	var last gmailtest.Message
	for n := range 200 {
		m, err := w.server.Deliver(t.Context(), []byte(fmt.Sprintf(question, n)))
		require.NoError(t, err)
		ids, last.ThreadID = append(ids, m.ID), m.ThreadID
	}
	last.ID = w.letterAt(200, 1)
	ids = append(ids, last.ID)
	w.sync()
	w.label(needsResponse, ids...) // as Gmail's page does
	w.sync()
	w.oneDraft()
	require.Len(t, w.requests(), 1)
	require.Len(t, w.requests()[0].Thread, 20)
	require.Equal(t, last.ID, w.requests()[0].Message.ProviderID)
	require.Equal(t, []string{"INBOX"}, w.labels(ids[0]))
	require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(last.ID))
	w.label(done, ids...)
	w.sync()
	require.Equal(t, replies.Archived, w.reply(last.ThreadID).State)
	require.Empty(t, w.labels(ids[0]))
	require.Empty(t, w.labels(last.ID))
}

// A huge message has a draft that Gmail takes, and that can be written again.
func TestAHugeMessage(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	body := strings.Repeat("All work and no play makes Zoë a dull girl.\r\n", 60_000) // 2.7 MB
	m, err := w.server.Deliver(t.Context(), []byte(strings.Replace(fmt.Sprintf(question, 1), "At five?", body, 1)))
	require.NoError(t, err)
	w.sync()
	w.label(needsResponse, m.ID)
	w.sync()
	require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)
	require.Less(t, len(w.oneDraft().Text), 1<<10)
	w.edit(w.oneDraft(), func(text string) string { return "Shorter.\n\n" + text })
	w.label(rework, m.ID)
	w.sync()
	require.Equal(t, "Shorter.", w.requests()[1].Instruction)
	require.Contains(t, w.oneDraft().Text, "this is text 2")
}
