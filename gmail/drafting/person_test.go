package drafting_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) say(word drafting.Word, instruction string) error {
	return w.db.Write(w.t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.service.Rework(ctx, tx, word, instruction)
	})
}

func (w *world) discard(word drafting.Word) (drafting.Fate, error) {
	return w.service.Discard(w.t.Context(), word, func(context.Context, queue.Tx) error { return nil })
}

func (w *world) refused(err error, says string) {
	w.t.Helper()
	var refused *drafting.StateError
	require.ErrorAs(w.t, err, &refused)
	require.ErrorContains(w.t, err, says)
}

// A person says elsewhere than in Gmail what should be different: no label and no marker are needed.
func TestAWordStartsARework(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		word := drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"}
		w.label(needsResponse, m.ID)
		w.learn()
		w.refused(w.say(word, "Shorter."), "being written")
		w.run()
		word.Turn = w.reply(m.ThreadID).Turn
		w.refused(w.say(word, " "), "say what should be different")
		require.NoError(t, w.say(word, "Shorter."))
		w.refused(w.say(word, "Longer."), "has changed since it was shown")
		w.sync()
		asked := w.requests()
		require.Equal(t, []string{"Hello Zoë,\n\nthis is text 1.", "Shorter."}, []string{asked[1].Text, asked[1].Instruction})
		require.Contains(t, w.oneDraft().Text, "this is text 2.")
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))

		w.edit(w.oneDraft(), func(text string) string { return "In French.\n---\nBonjour.\n" })
		word.Turn = 0
		require.NoError(t, w.say(word, "With cake."))
		w.sync()
		asked = w.requests()
		require.Equal(t, []any{"Bonjour.", "In French.\nWith cake.", true},
			[]any{asked[2].Text, asked[2].Instruction, asked[2].Edited})
		require.NoError(t, w.say(word, "Once more."))
		w.sync()
		w.refused(w.say(word, "And again."), "3 times")
		require.Len(t, w.requests(), 4)
		require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)
		history, err := w.replies.History(t.Context(), w.account, m.ThreadID)
		require.NoError(t, err)
		require.Equal(t, []any{replies.EventRework, "by ada"}, []any{history[2].Event, history[2].Reason})
		word.ThreadID = "none"
		require.Error(t, w.say(word, "Shorter."))
	})
}

// What is discarded is deleted if it is ours, and stays if a person has changed it.
func TestAWordDiscards(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		word := drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"}
		ask := func() {
			w.label(needsResponse, m.ID)
			w.sync()
		}
		ask()
		look, err := w.service.Look(t.Context(), w.reply(m.ThreadID))
		require.NoError(t, err)
		require.Equal(t, "Hello Zoë,\n\nthis is text 1.", look.Text)
		require.False(t, look.Touched || look.Gone || look.Sent)
		word.Turn = 99
		_, err = w.discard(word)
		w.refused(err, "has changed since it was shown")
		word.Turn = 0
		fate, err := w.discard(word)
		require.NoError(t, err)
		require.Equal(t, drafting.FateDeleted, fate)
		w.sync()
		require.Empty(t, w.draftsAt(""))
		require.Equal(t, []string{"INBOX"}, w.labels(m.ID))
		require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
		require.Equal(t, "discarded by ada", w.reply(m.ThreadID).Reason)
		_, err = w.discard(word)
		w.refused(err, "skipped")
		w.refused(w.say(word, "Shorter."), "skipped")

		ask()
		w.edit(w.oneDraft(), func(text string) string { return "Mine.\n" + text })
		look, err = w.service.Look(t.Context(), w.reply(m.ThreadID))
		require.NoError(t, err)
		require.True(t, look.Touched)
		fate, err = w.discard(word)
		require.NoError(t, err)
		require.Equal(t, drafting.FateKept, fate)
		w.sync()
		require.Contains(t, w.oneDraft().Text, "Mine.")
		require.Equal(t, []string{"INBOX"}, w.labels(m.ID))
	})
}

// The jobs learn from Gmail that the draft is deleted, before the person who discards it elsewhere has an answer.
func TestAWordDiscardsWhileTheDeletionIsLearned(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		learned := false
		w.through(&worldtest.Wire{After: func(r *http.Request, _ *http.Response) {
			if deletesDraft(r) && !learned {
				learned = true
				w.sync()
			}
		}})
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.sync()
		recorded := false
		fate, err := w.service.Discard(t.Context(), drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"},
			func(context.Context, queue.Tx) error { recorded = true; return nil })
		require.NoError(t, err)
		require.Equal(t, drafting.FateDeleted, fate)
		require.True(t, learned && recorded)
		require.Equal(t, "discarded by ada", w.reply(m.ThreadID).Reason)
		require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
		w.sync()
		require.Equal(t, []string{"INBOX"}, w.labels(m.ID))
	})
}

// Whoever discards a draft goes away while Gmail is asked to delete it: that is done, and who has said so is on record.
func TestAWordDiscardsWhoeverStillWaitsForIt(t *testing.T) {
	for _, answered := range []bool{false, true} {
		eachWorld(t, func(t *testing.T, w *world) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			leaves := func(r *http.Request) {
				if deletesDraft(r) {
					leave()
				}
			}
			wire := &worldtest.Wire{Before: leaves}
			if answered {
				wire = &worldtest.Wire{After: func(r *http.Request, _ *http.Response) { leaves(r) }}
			}
			w.through(wire)
			m := w.letter(1)
			w.label(needsResponse, m.ID)
			w.sync()
			recorded := false
			fate, err := w.service.Discard(ctx, drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"},
				func(context.Context, queue.Tx) error { recorded = true; return nil })
			require.NoError(t, err)
			require.Equal(t, drafting.FateDeleted, fate)
			require.True(t, recorded)
			require.Equal(t, "discarded by ada", w.reason(m.ThreadID))
			require.Empty(t, w.draftsAt(""))
		})
	}
}

// A person sends the draft in Gmail right before it is to be deleted.
func TestAWordDoesNotDiscardWhatIsSentMeanwhile(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.sync()
		d := w.oneDraft()
		w.through(&worldtest.Wire{Before: func(r *http.Request) {
			if deletesDraft(r) {
				w.send(d)
			}
		}})
		_, err := w.service.Discard(t.Context(), drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"},
			func(context.Context, queue.Tx) error { return nil })
		require.ErrorAs(t, err, new(*drafting.StateError))
		require.ErrorContains(t, err, "the draft was sent in Gmail")
		w.sync()
		require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
	})
}

// Before there is a draft, only the need ends.
func TestAWordDiscardsWhatIsNotWritten(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.learn()
		fate, err := w.discard(drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"})
		require.NoError(t, err)
		require.Equal(t, drafting.FateNone, fate)
		w.run()
		require.Empty(t, w.draftsAt(""))
		require.Empty(t, w.requests())
		require.Equal(t, []string{"INBOX"}, w.labels(m.ID))
	})
}

// A draft that was sent is not discarded.
func TestAWordComesTooLate(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.sync()
		w.send(w.oneDraft())
		_, err := w.discard(drafting.Word{AccountID: w.account, ThreadID: m.ThreadID, By: "ada"})
		w.refused(err, "was sent")
		w.sync()
		require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
	})
}
