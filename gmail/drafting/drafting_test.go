package drafting_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// A life: asked for, drafted, written again with an instruction, sent.
func TestTheLabelsAreTheButtons(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.sync()
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
		d := w.oneDraft()
		require.Equal(t, "Re: Tea?", d.Subject)
		require.Equal(t, "ann@example.com", d.To[0].Email)
		require.Equal(t, []string{"first@example.com", "q1@example.com"}, d.References)
		require.Equal(t, "Hello Zoë,\n\nthis is text 1.\n\n"+
			"On Sat, Mar 7, 2026 at 12:00 PM Zoë <ann@example.com> wrote:\n\n> At five?\n", d.Text)
		require.Equal(t, m.ThreadID, w.reply(m.ThreadID).ThreadID)

		w.edit(d, func(text string) string { return "Shorter, please.\n\n" + text })
		w.label(rework, m.ID)
		w.sync()
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
		require.Contains(t, w.oneDraft().Text, "this is text 2.")
		require.NotContains(t, w.oneDraft().Text, "Shorter")
		asked := w.requests()
		require.Len(t, asked, 2)
		require.Equal(t, []any{true, "", ""}, []any{asked[0].Asked, asked[0].Text, asked[0].Instruction})
		require.Equal(t, []any{"Hello Zoë,\n\nthis is text 1.", "Shorter, please.", false},
			[]any{asked[1].Text, asked[1].Instruction, asked[1].Edited})
		texts, err := w.service.Texts(t.Context(), w.reply(m.ThreadID))
		require.NoError(t, err)
		require.Len(t, texts, 3, "both versions are kept, and the new one")
		require.Equal(t, drafting.ByPerson, texts[1].Author)

		w.send(w.oneDraft())
		w.sync()
		require.Equal(t, []replies.State{replies.Pending, replies.Drafted, replies.ReworkRequested, replies.Drafted,
			replies.Sent}, w.states(m.ThreadID))
		require.Equal(t, []string{"INBOX"}, w.labels(m.ID))
		texts, err = w.service.Texts(t.Context(), w.reply(m.ThreadID))
		require.NoError(t, err)
		require.Empty(t, texts)
	})
}

// Gmail's page puts the label of a conversation onto each of its messages: that is one press.
func TestALabelOnAConversationIsOnePress(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ids := []string{w.letter(1).ID, w.letter(2).ID}
		m := w.letter(3)
		ids = append(ids, m.ID)
		w.label(needsResponse, ids...)
		w.sync()
		require.Len(t, w.requests(), 1)
		require.Equal(t, m.ID, w.requests()[0].Message.ProviderID, "the newest is answered")
		require.Len(t, w.requests()[0].Thread, 3)
		require.Equal(t, []string{"INBOX"}, w.labels(ids[0]))
		require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
		for i := range 2 {
			w.label(rework, ids...)
			w.sync()
			require.Len(t, w.requests(), 2+i)
			require.Equal(t, []string{"INBOX"}, w.labels(ids[0]))
		}
		require.EqualValues(t, 2, w.reply(m.ThreadID).Reworks)
		require.Equal(t, 1, w.server.Counts()[gmailtest.DraftsCreate])
	})
}

// A change of before the work is late, whichever page of the history brings it.
func TestALatePressIsNoOther(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		first, second := w.letter(1), w.letter(2)
		w.label(needsResponse, second.ID)
		w.learn()
		w.label(needsResponse, first.ID)
		w.run() // the work begins, and the second change has not been read
		require.Equal(t, replies.Drafted, w.reply(second.ThreadID).State)
		w.sync()
		require.Len(t, w.requests(), 1)
		require.Equal(t, []string{"INBOX"}, w.labels(first.ID), "it is taken off all the same")
	})
}

func TestALabelTakenOffWins(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		m := w.letter(1)
		w.label(needsResponse, m.ID)
		w.learn()
		w.unlabel(needsResponse, m.ID)
		w.learn()
		w.run()
		require.Empty(t, w.draftsAt(""))
		require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
		require.Contains(t, w.reply(m.ThreadID).Reason, "was taken off")

		w.label(needsResponse, m.ID)
		w.sync()
		require.Len(t, w.requests(), 1, "it may be put on again")
		w.label(rework, m.ID)
		w.learn()
		w.unlabel(rework, m.ID)
		w.learn()
		w.run()
		require.Len(t, w.requests(), 1)
		require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)

		w.label(done, m.ID)
		w.learn()
		w.unlabel(done, m.ID)
		w.learn()
		w.run()
		require.Equal(t, []string{"INBOX"}, w.labels(m.ID))
	})
}

// A label that was there before the account is no wish, and one that a filter puts on is.
func TestWhichLabelsCount(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	w.label("Other/Rework", w.letter(1).ID)
	w.sync()
	require.Empty(t, w.requests())

	old := w.letterAt(2, -48)
	require.NoError(t, w.person.Label(t.Context(), needsResponse, old))
	w.sync()
	require.Empty(t, w.requests(), "it came with the label, before the account was added")

	fresh := w.letterAt(3, 0)
	require.NoError(t, w.person.Label(t.Context(), needsResponse, fresh))
	w.sync()
	require.Len(t, w.requests(), 1)
}

func TestDoneArchivesWhatWasSeen(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		first, second := w.letter(1), w.letter(2)
		w.label(needsResponse, second.ID)
		w.sync()
		w.label(done, first.ID, second.ID)
		third, err := w.server.Deliver(t.Context(), []byte(fmt.Sprintf(question, 3)))
		require.NoError(t, err)
		w.sync()
		require.Equal(t, replies.Archived, w.reply(first.ThreadID).State)
		require.Empty(t, w.labels(first.ID))
		require.Empty(t, w.labels(second.ID))
		require.Equal(t, []string{"INBOX"}, w.labels(third.ID))
		w.oneDraft()
		w.label(needsResponse, third.ID)
		w.sync()
		require.EqualValues(t, 2, w.reply(first.ThreadID).Need)
		require.Len(t, w.draftsAt(""), 2)
	})
}

func TestTheFourthReworkIsAPersons(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	for range replies.MaxReworks {
		w.label(rework, m.ID)
		w.sync()
	}
	last := w.oneDraft()
	w.label(rework, m.ID)
	w.sync()
	require.Len(t, w.requests(), 1+replies.MaxReworks)
	require.Equal(t, last.Text, w.oneDraft().Text)
	require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
	require.Equal(t, []string{"INBOX", actionRequired}, w.labels(m.ID))
}

// The person's text is what is worked on, with the people and the files that the person has added.
func TestAnEditedTextIsReworked(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	d := w.oneDraft()
	d.Cc = append(d.Cc, d.To[0])
	d.Cc[0].Email = "bob@example.com"
	w.edit(d, func(text string) string {
		return "Friendlier.\nAnd ask for cake.\n---\n" + strings.Replace(text, "this is text 1", "at six", 1)
	})
	w.label(rework, m.ID)
	w.sync()
	asked := w.requests()[1]
	require.Equal(t, "Friendlier.\nAnd ask for cake.", asked.Instruction)
	require.Equal(t, "Hello Zoë,\n\nat six.", asked.Text)
	require.True(t, asked.Edited)
	require.Equal(t, "bob@example.com", w.oneDraft().Cc[0].Email)
	require.Contains(t, w.oneDraft().Text, "this is text 2.")
}

// What a person writes while the writer is at work is not overwritten unread.
func TestAnEditDuringTheWorkIsRead(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	d := w.oneDraft()
	w.write = func(r drafting.Request) (string, error) {
		if len(w.requests()) == 2 {
			w.edit(d, func(text string) string { return "Ask for cake.\n---\n" + text })
		}
		return fmt.Sprint("Text ", len(w.requests())), nil
	}
	w.label(rework, m.ID)
	w.sync()
	require.Len(t, w.requests(), 3)
	require.Equal(t, "Ask for cake.", w.requests()[2].Instruction)
	require.Contains(t, w.oneDraft().Text, "Text 3")
}

// A newer message takes the place of the one that waits; a draft that a person has touched stays all the same.
func TestATouchedDraftIsNotOverwritten(t *testing.T) {
	for name, touch := range map[string]bool{"left as it was": false, "touched": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbSQLite(t))
			m := w.letter(1)
			need := func(id string) {
				w.tx(func(ctx context.Context, tx queue.Tx) error {
					_, err := w.replies.Needed(ctx, tx, w.account, m.ThreadID, id)
					return err
				})
			}
			need(m.ID)
			next := w.letterAt(2, 0)
			w.sync()
			w.exec("UPDATE replies SET state = 'pending'") // as if the second came while the draft was made
			need(next)
			if touch {
				w.edit(w.oneDraft(), func(text string) string { return "Mine.\n" + text })
			}
			w.run()
			require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)
			if touch {
				require.Len(t, w.requests(), 1)
				require.Contains(t, w.oneDraft().Text, "Mine.\nHello Zoë,\n\nthis is text 1.")
				return
			}
			require.Len(t, w.requests(), 2)
			require.Contains(t, w.oneDraft().Text, "this is text 2")
		})
	}
}

func TestWhatAPersonDoesWithTheDraft(t *testing.T) {
	for name, tt := range map[string]struct {
		does  func(w *world, d draftAt)
		state replies.State
	}{
		"deletes it":         {func(w *world, d draftAt) { require.NoError(w.t, w.google.Users.Drafts.Delete("me", d.id).Do()) }, replies.Skipped},
		"edits and sends it": {func(w *world, d draftAt) { w.edit(d, strings.ToUpper); w.send(d) }, replies.Sent},
		"edits it":           {func(w *world, d draftAt) { w.edit(d, strings.ToUpper) }, replies.Drafted},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				m := w.letter(1)
				w.label(needsResponse, m.ID)
				w.sync()
				tt.does(w, w.oneDraft())
				w.sync()
				w.run(drafting.NewCheckJob(w.account))
				require.Equal(t, tt.state, w.reply(m.ThreadID).State)
				want := []string{"INBOX"}
				if tt.state == replies.Drafted {
					want = append(want, outboxLabel)
				}
				require.Equal(t, want, w.labels(m.ID))
			})
		})
	}
}

// A draft that is gone before it was ever stored is found by the check.
func TestACheckFindsWhatNobodyReports(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	w.exec("UPDATE messages SET deleted_at = '2026-03-07T12:00:00.000000Z' WHERE labels_json LIKE '%DRAFT%'")
	require.NoError(t, w.google.Users.Drafts.Delete("me", w.oneDraft().id).Do())
	w.sync()
	require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)
	w.run(drafting.NewCheckJob(""))
	require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
}

// Whatever happens to the calls, the writer is asked once, and there is one draft.
func TestFaultsAskOnce(t *testing.T) {
	for name, fault := range map[string]gmailtest.Fault{
		"cut before": {Cut: gmailtest.CutBefore}, "cut after": {Cut: gmailtest.CutAfter}, "server error": {Status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbSQLite(t))
			ann := worldtest.OpenInbox(t, w.server, "ann@example.com")
			m := w.letter(1)
			for _, method := range []gmailtest.Method{gmailtest.DraftsCreate, gmailtest.DraftsUpdate} {
				fault.Method = method
				w.server.Fault(fault)
			}
			w.label(needsResponse, m.ID)
			w.sync()
			require.Contains(t, w.oneDraft().Text, "text 1")
			w.label(rework, m.ID)
			w.sync()
			require.Contains(t, w.oneDraft().Text, "text 2")
			require.Len(t, w.requests(), 2)
			require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)
			w.send(w.oneDraft())
			w.sync()
			require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
			ann.One()
		})
	}
}

func TestAPersonWritesWhatTheWriterDoesNot(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.write = func(drafting.Request) (string, error) { return " \n", nil }
	w.label(needsResponse, m.ID)
	w.sync()
	require.Empty(t, w.draftsAt(""))
	require.Equal(t, []string{"INBOX", actionRequired}, w.labels(m.ID))
	require.Contains(t, w.reply(m.ThreadID).Reason, "left this answer to a person")
}

// An answer to another domain needs a person who asks for it.
func TestReplyToAtAnotherDomain(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	raw := strings.Replace(fmt.Sprintf(question, 1), "Subject:", "Reply-To: eve@evil.example\r\nSubject:", 1)
	m, err := w.server.Deliver(t.Context(), []byte(raw))
	require.NoError(t, err)
	w.sync()
	w.tx(func(ctx context.Context, tx queue.Tx) error {
		_, err := w.replies.Needed(ctx, tx, w.account, m.ThreadID, m.ID)
		return err
	})
	w.run()
	require.Empty(t, w.requests())
	require.Contains(t, w.reply(m.ThreadID).Reason, "at another domain")
	w.label(needsResponse, m.ID)
	w.sync()
	require.Equal(t, "eve@evil.example", w.oneDraft().To[0].Email)
}

func TestJobsWaitWhileAllIsHeld(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	var looks atomic.Int64
	w.cfg.Held = func(context.Context) error {
		if looks.Add(1) == 1 {
			require.Empty(t, w.requests())
			return &postroom.HeldError{Reason: "stopped"}
		}
		return nil
	}
	var err error
	w.service, err = drafting.New(w.cfg)
	require.NoError(t, err)
	w.label(needsResponse, m.ID)
	w.sync()
	w.oneDraft()
	require.Greater(t, looks.Load(), int64(1))
}

func TestForget(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	texts, err := w.service.Texts(t.Context(), w.reply(m.ThreadID))
	require.NoError(t, err)
	require.Len(t, texts, 1)
	w.tx(func(ctx context.Context, tx queue.Tx) error { return drafting.Forget(ctx, tx, w.account) })
	texts, err = w.service.Texts(t.Context(), w.reply(m.ThreadID))
	require.NoError(t, err)
	require.Empty(t, texts)
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	names := drafting.Labels{Done: "x", Rework: "X", Outbox: "inbox"}
	_, err := drafting.New(drafting.Config{MaxThread: -1, Labels: names})
	for _, what := range []string{"Config.Store", "Config.Queue", "Config.Replies", "Config.Drafts", "Config.Clients",
		"Config.Writer", "MaxThread is -1", `rework and done are both "x"`, "outbox: label name"} {
		require.ErrorContains(t, err, what)
	}
}

// The label that a person puts on again while the work for the last one is done is another wish, though the history has
// it as no change once this program has taken it off.
func TestALabelPutOnAgainMeanwhileCounts(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	w.write = func(drafting.Request) (string, error) {
		if len(w.requests()) == 2 {
			w.unlabel(rework, m.ID)
			w.label(rework, m.ID)
		}
		return fmt.Sprint("Text ", len(w.requests())), nil
	}
	w.label(rework, m.ID)
	w.sync()
	require.Len(t, w.requests(), 3)
	require.EqualValues(t, 2, w.reply(m.ThreadID).Reworks)
	w.sync()
	require.Len(t, w.requests(), 3)
	require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
}
