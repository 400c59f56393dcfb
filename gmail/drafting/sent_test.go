package drafting_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// hearsOfSent makes the service anew, which reports drafts that were sent.
func (w *world) hearsOfSent(heard *[]drafting.SentDraft) {
	w.t.Helper()
	w.cfg.Sent = func(d drafting.SentDraft) func(context.Context, queue.Tx) error {
		return func(context.Context, queue.Tx) error {
			*heard = append(*heard, d)
			return nil
		}
	}
	var err error
	w.service, err = drafting.New(w.cfg)
	require.NoError(w.t, err)
}

// What the person has made of a draft is heard of once, however it was sent; an answer without the draft is none.
func TestWhatWasSentIsLearnedFrom(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		var heard []drafting.SentDraft
		w.hearsOfSent(&heard)
		m := w.letter(1)
		ask := func() {
			w.label(needsResponse, m.ID)
			w.sync()
		}
		ask()
		w.edit(w.oneDraft(), func(text string) string { return strings.Replace(text, "this is text 1", "at six", 1) })
		w.send(w.oneDraft())
		w.sync()
		w.run(drafting.NewCheckJob(""))
		require.Len(t, heard, 1)
		require.Equal(t, []string{w.account, w.reply(m.ThreadID).SentMessageID, "Hello Zoë,\n\nthis is text 1.",
			"Hello Zoë,\n\nat six."}, []string{heard[0].AccountID, heard[0].MessageID, heard[0].Draft, heard[0].Sent})
		require.Equal(t, m.ID, heard[0].Thread[0].ProviderID)

		ask()
		look, err := w.service.Look(t.Context(), w.reply(m.ThreadID))
		require.NoError(t, err)
		require.NoError(t, w.service.Send(t.Context(), drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"},
			look.SHA256, func(context.Context, queue.Tx) error { return nil }))
		w.sync()
		require.Len(t, heard, 2)
		require.Equal(t, heard[1].Draft, heard[1].Sent)

		ask()
		w.writesIn(m.ThreadID, 1)
		w.run(drafting.NewCheckJob(""))
		require.Len(t, heard, 2)
	})
}

// What cannot be read the first time is read again; what can never be read ends the need all the same.
func TestWhatWasSentIsReadAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		status, times int64
		heard         int
	}{"out of order": {http.StatusInternalServerError, 2, 1}, "gone": {http.StatusNotFound, 100, 0}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbSQLite(t))
			var heard []drafting.SentDraft
			w.hearsOfSent(&heard)
			m := w.letter(1)
			w.label(needsResponse, m.ID)
			w.sync()
			w.send(w.oneDraft())
			var failed atomic.Int64
			w.through(&worldtest.Wire{After: func(r *http.Request, answer *http.Response) {
				if strings.Contains(r.URL.Path, "/messages/") && r.URL.Query().Get("format") == "raw" &&
					failed.Add(1) <= tt.times {
					answer.StatusCode = int(tt.status)
					worldtest.SetBody(answer, fmt.Sprintf(`{"error":{"code":%d,"message":"No.","errors":[{"reason":"notFound"}]}}`,
						tt.status))
				}
			}})
			w.run(drafting.NewCheckJob(""))
			require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
			require.Positive(t, failed.Load())
			require.Len(t, heard, tt.heard)
		})
	}
}

// What is sent while it is written again is compared with the draft that was there.
func TestWhatIsSentDuringARework(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	var heard []drafting.SentDraft
	w.hearsOfSent(&heard)
	w.write = func(r drafting.Request) (string, error) {
		if r.Instruction == "" {
			return "The first text.", nil
		}
		w.edit(w.oneDraft(), func(text string) string { return strings.Replace(text, "text", "word", 1) })
		w.send(w.oneDraft())
		return "Another text.", nil
	}
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	w.edit(w.oneDraft(), func(text string) string { return "Shorter.\n\n" + text })
	w.label(rework, m.ID)
	w.sync()
	require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
	require.Len(t, heard, 1)
	require.Equal(t, "The first text.", heard[0].Draft)
}
