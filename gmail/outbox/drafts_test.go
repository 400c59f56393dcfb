package outbox_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) drafts(settle time.Duration) *outbox.Drafts {
	w.t.Helper()
	d, err := outbox.NewDrafts(outbox.DraftsConfig{Store: w.store, Clients: w.cfg.Clients, Settle: settle})
	require.NoError(w.t, err)
	return d
}

// until repeats a call as a job would, while its outcome is not known; the time to settle is a millisecond.
func until(t *testing.T, call func() (outbox.Draft, error)) (outbox.Draft, error) {
	t.Helper()
	for range 500 {
		draft, err := call()
		if c := gmailapi.ClassOf(err); c != gmailapi.ClassUnclear && c != gmailapi.ClassServer &&
			c != gmailapi.ClassNetwork && c != gmailapi.ClassAnswer {
			return draft, err
		}
	}
	t.Fatal("its outcome is never known")
	return outbox.Draft{}, nil
}

// count is the number of drafts at Gmail.
func (w *world) countDrafts() int {
	w.t.Helper()
	page, err := w.client.ListDrafts(w.t.Context(), "", "")
	require.NoError(w.t, err)
	return len(page.Drafts)
}

func TestDraftOfAnAnswer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		d := w.drafts(0)
		ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		message, arrived := w.letter(worldtest.Question)
		content := outbox.DraftContent{Answers: message, Text: "Perhaps."}
		draft, err := d.Create(t.Context(), w.account, "answer:1", content)
		require.NoError(t, err)
		require.Equal(t, outbox.DraftOpen, draft.State)
		require.Equal(t, arrived.ThreadID, draft.ThreadID)
		again, err := d.Create(t.Context(), w.account, "answer:1", content)
		require.NoError(t, err)
		require.Equal(t, draft, again)
		require.Equal(t, 1, w.server.Counts()[gmailtest.DraftsCreate])

		content.Text = "Yes."
		changed, err := d.Update(t.Context(), w.account, "answer:1", content)
		require.NoError(t, err)
		require.Equal(t, draft, changed)
		require.Equal(t, 1, w.countDrafts())

		sent, err := d.Send(t.Context(), w.account, "answer:1")
		require.NoError(t, err)
		require.Equal(t, outbox.DraftSent, sent.State)
		require.NotEmpty(t, sent.SentMessageID)
		again, err = d.Send(t.Context(), w.account, "answer:1")
		require.NoError(t, err)
		require.Equal(t, sent, again)
		got := ann.One()
		require.Equal(t, "Re: Tea?", got.Subject)
		require.Equal(t, "Yes.", got.Text)
		require.Equal(t, []string{"first@example.com", "q@example.com"}, got.References)
		require.Empty(t, got.Header.Get("Auto-Submitted"), "a person reads it before")
		_, err = d.Update(t.Context(), w.account, "answer:1", content)
		require.Equal(t, gmailapi.ClassGone, gmailapi.ClassOf(err))
		_, err = d.Delete(t.Context(), w.account, "answer:1")
		require.Equal(t, gmailapi.ClassGone, gmailapi.ClassOf(err))
		require.Zero(t, w.countDrafts())
		stored, err := d.Draft(t.Context(), w.account, "answer:1")
		require.NoError(t, err)
		require.Equal(t, sent, stored)
	})
}

// Whatever happens to the calls, there is one draft, and it is sent once.
func TestDraftsAreMadeAndSentOnce(t *testing.T) {
	content := outbox.DraftContent{To: []mime.Address{{Email: "ann@example.com"}}, Subject: "Tea", Text: "At five?"}
	for name, fault := range map[string]gmailtest.Fault{
		"cut before":     {Cut: gmailtest.CutBefore},
		"cut after":      {Cut: gmailtest.CutAfter},
		"half an answer": {Truncate: true},
		"server error":   {Status: 503},
		"twice":          {Cut: gmailtest.CutBefore, Times: 2},
	} {
		for _, unindexed := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", and not found by the search"}[unindexed], func(t *testing.T) {
				w := newWorld(t)
				d := w.drafts(time.Millisecond)
				ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
				if unindexed {
					w.wire.After = worldtest.HideFromSearch
				}
				for _, method := range []gmailtest.Method{gmailtest.DraftsCreate, gmailtest.DraftsUpdate, gmailtest.DraftsSend} {
					fault.Method = method
					w.server.Fault(fault)
				}
				made, err := until(t, func() (outbox.Draft, error) { return d.Create(t.Context(), w.account, "k", content) })
				require.NoError(t, err)
				require.Equal(t, 1, w.countDrafts())
				_, err = until(t, func() (outbox.Draft, error) { return d.Update(t.Context(), w.account, "k", content) })
				require.NoError(t, err)
				require.Equal(t, 1, w.countDrafts())
				sent, err := until(t, func() (outbox.Draft, error) { return d.Send(t.Context(), w.account, "k") })
				require.NoError(t, err)
				require.Equal(t, outbox.DraftSent, sent.State)
				require.Equal(t, made.ID, sent.ID)
				require.Zero(t, w.countDrafts())
				ann.One()
			})
		}
	}
}

// What a crash leaves behind is a row that says what was about to happen.
func TestDraftOfAProcessThatDied(t *testing.T) {
	w := newWorld(t)
	d := w.drafts(time.Minute)
	content := outbox.DraftContent{To: []mime.Address{{Email: "ann@example.com"}}, Subject: "Tea"}
	w.wire.After = func(r *http.Request, answer *http.Response) { // it dies with the answer on its way
		if r.Method == http.MethodPost {
			worldtest.SetBody(answer, "")
		}
	}
	_, err := d.Create(t.Context(), w.account, "k", content)
	require.Equal(t, gmailapi.ClassUnclear, gmailapi.ClassOf(err))
	w.wire.After = nil
	made, err := d.Create(t.Context(), w.account, "k", content)
	require.NoError(t, err)
	require.Equal(t, outbox.DraftOpen, made.State)
	require.Equal(t, 1, w.countDrafts())

	// It dies before the call.
	w.exec("UPDATE drafts SET state = 'creating', provider_draft_id = '', rfc_message_id = 'other@example.com'")
	w.exec("UPDATE drafts SET open_until = $1", "2999-01-01T00:00:00.000Z")
	_, err = d.Create(t.Context(), w.account, "k", content)
	require.Equal(t, gmailapi.ClassUnclear, gmailapi.ClassOf(err), "it may still come")
	_, err = d.Send(t.Context(), w.account, "k")
	require.Equal(t, gmailapi.ClassUnclear, gmailapi.ClassOf(err))
	require.NoError(t, outbox.EndCalls(t.Context(), w.db))
	_, err = d.Send(t.Context(), w.account, "k")
	require.ErrorIs(t, err, postroom.ErrNotFound)
	_, err = d.Create(t.Context(), w.account, "k", content)
	require.NoError(t, err)
	require.Equal(t, 2, w.countDrafts())
}

func TestWhatAPersonDoesWithADraft(t *testing.T) {
	content := outbox.DraftContent{To: []mime.Address{{Email: "ann@example.com"}}, Subject: "Tea", Text: "At five?"}
	edited := "From: you@example.com\r\nTo: ann@example.com\r\nSubject: Tea\r\nMessage-ID: <edited@example.com>\r\n\r\nAt six?\r\n"
	tests := map[string]struct {
		does  func(w *world, d *outbox.Drafts, made outbox.Draft)
		state outbox.DraftState
		sends bool // something, in the thread
	}{
		"sends it":   {func(w *world, _ *outbox.Drafts, made outbox.Draft) { w.sendDraft(made.ID) }, outbox.DraftSent, true},
		"deletes it": {func(w *world, _ *outbox.Drafts, made outbox.Draft) { w.deleteDraft(made.ID) }, outbox.DraftDeleted, false},
		"edits it and sends it after a look": {func(w *world, d *outbox.Drafts, made outbox.Draft) {
			w.editDraft(made.ID, edited)
			_, err := d.Check(w.t.Context(), w.account, "k")
			require.NoError(w.t, err)
			w.sendDraft(made.ID)
		}, outbox.DraftSent, true},
		"edits it and sends it before a look": {func(w *world, _ *outbox.Drafts, made outbox.Draft) {
			w.editDraft(made.ID, edited)
			w.sendDraft(made.ID)
		}, outbox.DraftDeleted, true},
		"sends another in the thread and deletes it": {func(w *world, _ *outbox.Drafts, made outbox.Draft) {
			w.sendInThread(made, edited)
			w.deleteDraft(made.ID)
		}, outbox.DraftDeleted, true},
		"sends another in the thread": {func(w *world, _ *outbox.Drafts, made outbox.Draft) { w.sendInThread(made, edited) }, outbox.DraftOpen, false},
		"edits it":                    {func(w *world, _ *outbox.Drafts, made outbox.Draft) { w.editDraft(made.ID, edited) }, outbox.DraftOpen, false},
		"nothing":                     {func(*world, *outbox.Drafts, outbox.Draft) {}, outbox.DraftOpen, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.drafts(time.Millisecond)
			made, err := d.Create(t.Context(), w.account, "k", content)
			require.NoError(t, err)
			tt.does(w, d, made)
			sends := w.server.Counts()[gmailtest.DraftsSend]
			now, err := until(t, func() (outbox.Draft, error) { return d.Check(t.Context(), w.account, "k") })
			require.NoError(t, err)
			require.Equal(t, tt.state, now.State)
			require.Equal(t, tt.sends, now.SentMessageID != "")
			sent, err := until(t, func() (outbox.Draft, error) { return d.Send(t.Context(), w.account, "k") })
			if tt.state == outbox.DraftDeleted {
				require.Equal(t, gmailapi.ClassGone, gmailapi.ClassOf(err))
				require.Equal(t, sends, w.server.Counts()[gmailtest.DraftsSend])
				return
			}
			require.NoError(t, err)
			require.Equal(t, outbox.DraftSent, sent.State)
			require.Equal(t, 1, w.server.Counts()[gmailtest.DraftsSend])
			if name == "edits it" {
				require.Equal(t, "edited@example.com", sent.MessageID)
			}
		})
	}
}

func (w *world) sendDraft(id string) {
	w.t.Helper()
	_, err := w.google.Users.Drafts.Send("me", &api.Draft{Id: id}).Do()
	require.NoError(w.t, err)
}

func (w *world) deleteDraft(id string) {
	w.t.Helper()
	require.NoError(w.t, w.google.Users.Drafts.Delete("me", id).Do())
}

// sendInThread sends a message in the thread of the draft.
func (w *world) sendInThread(d outbox.Draft, raw string) {
	w.t.Helper()
	_, err := w.client.Send(w.t.Context(),
		[]byte(strings.Replace(raw, "Message-ID", "References: <"+d.MessageID+">\r\nMessage-ID", 1)), d.ThreadID)
	require.NoError(w.t, err)
}

func (w *world) editDraft(id, raw string) {
	w.t.Helper()
	_, err := w.client.UpdateDraft(w.t.Context(), id, []byte(raw), "")
	require.NoError(w.t, err)
}

// A draft that is gone is not deleted before Gmail would show that it was sent.
func TestGoneIsNotDeletedYet(t *testing.T) {
	w := newWorld(t)
	d := w.drafts(time.Minute)
	made, err := d.Create(t.Context(), w.account, "k", outbox.DraftContent{To: []mime.Address{{Email: "ann@example.com"}}})
	require.NoError(t, err)
	require.NoError(t, w.google.Users.Drafts.Delete("me", made.ID).Do())
	for range 2 {
		_, err = d.Check(t.Context(), w.account, "k")
		require.Equal(t, gmailapi.ClassUnclear, gmailapi.ClassOf(err))
		require.Error(t, gmailapi.Verdict(err))
	}
	w.exec("UPDATE drafts SET open_until = $1", "2020-01-01T00:00:00.000Z")
	gone, err := d.Check(t.Context(), w.account, "k")
	require.NoError(t, err)
	require.Equal(t, outbox.DraftDeleted, gone.State)
	_, err = d.Delete(t.Context(), w.account, "k")
	require.NoError(t, err, "that is what was wanted")
}

func TestDraftsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		d := w.drafts(time.Minute)
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				_, err := d.Create(t.Context(), w.account, "k", outbox.DraftContent{Subject: "Tea"})
				if c := gmailapi.ClassOf(err); err != nil && c != gmailapi.ClassUnclear {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Equal(t, 1, w.countDrafts())
	})
}

// What Gmail has said of the end of a draft is stored, also if another call's note of it is being written.
func TestTheEndOfADraftIsStoredBesideAnotherNote(t *testing.T) {
	w := newWorldOn(t, dbtest.Postgres(t))
	d := w.drafts(time.Minute)
	_, err := d.Create(t.Context(), w.account, "k", outbox.DraftContent{Subject: "Tea"})
	require.NoError(t, err)
	other, err := w.db.Reader().BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		draft, err := d.DeleteIf(context.Background(), w.account, "k", func(*mime.Message) error {
			_, err := other.Exec("UPDATE drafts SET version = version + 1")
			return err
		})
		if err == nil && draft.State != outbox.DraftDeleted {
			err = fmt.Errorf("it is %s", draft.State)
		}
		ended <- err
	}()
	require.Eventually(t, func() bool {
		var waiting int
		return w.db.Reader().Get(&waiting, `SELECT COUNT(*) FROM pg_stat_activity
WHERE application_name = current_setting('application_name') AND wait_event_type = 'Lock'`) == nil && waiting > 0
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, other.Commit())
	require.NoError(t, <-ended)
}

func TestDraftsAreRefused(t *testing.T) {
	w := newWorld(t)
	d := w.drafts(0)
	for name, call := range map[string]func() (outbox.Draft, error){
		"no key": func() (outbox.Draft, error) { return d.Create(t.Context(), w.account, " ", outbox.DraftContent{}) },
		"no such message": func() (outbox.Draft, error) {
			return d.Create(t.Context(), w.account, "a", outbox.DraftContent{Answers: "nothing"})
		},
		"a line break": func() (outbox.Draft, error) {
			return d.Create(t.Context(), w.account, "b", outbox.DraftContent{Subject: "a\r\nBcc: b@example.com"})
		},
		"no address": func() (outbox.Draft, error) {
			return d.Create(t.Context(), w.account, "c", outbox.DraftContent{To: []mime.Address{{Email: "ann"}}})
		},
		"no such account": func() (outbox.Draft, error) { return d.Create(t.Context(), "nobody", "d", outbox.DraftContent{}) },
		"a draft unknown": func() (outbox.Draft, error) { return d.Send(t.Context(), w.account, "unknown") },
		"update of none": func() (outbox.Draft, error) {
			return d.Update(t.Context(), w.account, "unknown", outbox.DraftContent{})
		},
		"deletion of none": func() (outbox.Draft, error) { return d.Delete(t.Context(), w.account, "unknown") },
		"check of none":    func() (outbox.Draft, error) { return d.Check(t.Context(), w.account, "unknown") },
	} {
		_, err := call()
		require.Error(t, err, name)
	}
	require.Zero(t, w.countDrafts())
	_, err := outbox.NewDrafts(outbox.DraftsConfig{Settle: -1})
	require.ErrorContains(t, err, "DraftsConfig.Store")
	require.ErrorContains(t, err, "DraftsConfig.Clients")
	require.ErrorContains(t, err, "DraftsConfig.Settle is negative")
}

// A call that waits for its turn longer than it has been declared for is not made: another may have taken its place.
func TestDraftsAreNotChangedLate(t *testing.T) {
	w := newWorld(t)
	costs := gmailapi.DefaultCosts()
	for method := range costs {
		costs[method] = 0
	}
	costs[gmailapi.MethodCreateDraft], costs[gmailapi.MethodSendDraft] = 100, 100 // the budget of a minute
	limited, err := gmailapi.NewClient(gmailapi.ClientConfig{
		HTTPClient: authorized(w), Endpoint: w.server.URL(), Timeout: 5 * time.Second,
		Limits: gmailapi.Limits{UnitsPerMinute: 101, Burst: 100, Costs: costs},
	})
	require.NoError(t, err)
	w.client = limited
	d := w.drafts(time.Hour)
	_, err = d.Create(t.Context(), w.account, "k", outbox.DraftContent{To: []mime.Address{{Email: "ann@example.com"}},
		Text: "At five?"})
	require.NoError(t, err)
	_, err = d.Create(t.Context(), w.account, "another", outbox.DraftContent{
		To:   []mime.Address{{Email: "ann@example.com"}},
		Text: "At six?"})
	require.ErrorContains(t, err, "only after its deadline")
	_, err = d.Send(t.Context(), w.account, "k")
	require.ErrorContains(t, err, "only after its deadline")
}

// A paused account sends no drafts, and makes none.
func TestDraftsOfAPausedAccount(t *testing.T) {
	w := newWorld(t)
	d := w.drafts(0)
	content := outbox.DraftContent{To: []mime.Address{{Email: "ann@example.com"}}, Text: "At five?"}
	_, err := d.Create(t.Context(), w.account, "k", content)
	require.NoError(t, err)
	write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
		return w.store.Pause(ctx, tx, w.queue, w.account, "on holiday")
	})
	calls := len(w.server.Calls())
	for name, call := range map[string]func() (outbox.Draft, error){
		"create": func() (outbox.Draft, error) { return d.Create(t.Context(), w.account, "another", content) },
		"update": func() (outbox.Draft, error) { return d.Update(t.Context(), w.account, "k", content) },
		"send":   func() (outbox.Draft, error) { return d.Send(t.Context(), w.account, "k") },
		"delete": func() (outbox.Draft, error) { return d.Delete(t.Context(), w.account, "k") },
		"check":  func() (outbox.Draft, error) { return d.Check(t.Context(), w.account, "k") },
	} {
		_, err := call()
		require.Equal(t, gmailapi.ClassPaused, gmailapi.ClassOf(err), name)
		require.ErrorContains(t, err, "on holiday")
	}
	require.Len(t, w.server.Calls(), calls)
}

// TestADraftThatWasSentIsAReply: no rule sends another, also after the mailbox was removed and came back.
func TestADraftThatWasSentIsAReply(t *testing.T) {
	for by, send := range map[string]func(w *world, d *outbox.Drafts, made outbox.Draft){
		"a program": func(w *world, d *outbox.Drafts, _ outbox.Draft) {
			_, err := d.Send(w.t.Context(), w.account, "k")
			require.NoError(w.t, err)
		},
		"a person": func(w *world, _ *outbox.Drafts, made outbox.Draft) { w.sendDraft(made.ID) },
	} {
		t.Run(by, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				ann, colleague := worldtest.OpenInbox(w.t, w.server, "ann@example.com"),
					worldtest.OpenInbox(w.t, w.server, "colleague@example.com")
				message, m := w.letter(worldtest.Question)
				d := w.drafts(time.Millisecond)
				made, err := d.Create(t.Context(), w.account, "k", outbox.DraftContent{Answers: message, Text: "Perhaps."})
				require.NoError(t, err)
				said, _ := w.sentBefore(worldtest.Reply(message, "Yes."))
				require.Empty(t, said, "it is not sent")
				send(w, d, made)
				draft, err := until(t, func() (outbox.Draft, error) { return d.Check(t.Context(), w.account, "k") })
				require.NoError(t, err)
				require.Equal(t, outbox.DraftSent, draft.State)

				said, all := w.sentBefore(worldtest.Reply(message, "Yes."))
				require.Regexp(t, `^a reply to this message was sent to ann@example.com on \d{4}-.*Z$`, said)
				require.True(t, all)
				again, _ := w.carryOut(worldtest.Reply(message, "Yes."))
				require.Equal(t, postroom.ActionFailed, again.State)
				require.Contains(t, again.Error, "it is sent again only if a person approves that")
				forwarded, _ := w.carryOut(worldtest.Forward(message, "colleague@example.com"))
				require.Equal(t, postroom.ActionCompleted, forwarded.State, forwarded.Error)
				colleague.One()
				ann.One()

				w.remove()
				message = w.comesBack("you@example.com", m)
				said, all = w.sentBefore(worldtest.Reply(message, "Yes."))
				require.Contains(t, said, "a reply to this message was sent to ann@example.com on ")
				require.Contains(t, said, "before the mailbox was removed here and came back")
				require.True(t, all)
				forgotten, err := outbox.NewSentRecord(w.store).Forget(t.Context(), "you@example.com")
				require.NoError(t, err)
				require.Equal(t, 2, forgotten)
				sent, _ := w.carryOut(worldtest.Reply(message, "Yes."))
				require.Equal(t, postroom.ActionCompleted, sent.State, sent.Error)
			})
		})
	}
}

// A call that finds a draft sent does not take back what another has made it an answer to meanwhile.
func TestADraftThatBecameAReplyIsOneWhenItIsSent(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		message, _ := w.letter(worldtest.Question)
		d := w.drafts(time.Millisecond)
		made, err := d.Create(t.Context(), w.account, "k", outbox.DraftContent{Subject: "Tea"})
		require.NoError(t, err)
		_, _ = d.DeleteIf(t.Context(), w.account, "k", func(*mime.Message) error {
			_, err := d.Update(t.Context(), w.account, "k", outbox.DraftContent{Answers: message, Text: "Yes."})
			require.NoError(t, err)
			w.sendDraft(made.ID)
			return nil
		})
		draft, err := until(t, func() (outbox.Draft, error) { return d.Check(t.Context(), w.account, "k") })
		require.NoError(t, err)
		require.Equal(t, outbox.DraftSent, draft.State)
		said, _ := w.sentBefore(worldtest.Reply(message, "Yes."))
		require.Contains(t, said, "a reply to this message was sent to ann@example.com")
	})
}

// TestADraftThatMayHaveBeenSentIsAsked about: one that a person has edited and sent cannot be told from one that was
// deleted.
func TestADraftThatMayHaveBeenSentIsAsked(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		message, _ := w.letter(worldtest.Question)
		d := w.drafts(time.Millisecond)
		made, err := d.Create(t.Context(), w.account, "k", outbox.DraftContent{Answers: message, Text: "Perhaps."})
		require.NoError(t, err)
		w.sendInThread(made, strings.Replace(worldtest.Question, "q@example.com", "edited@example.com", 1))
		w.deleteDraft(made.ID)
		draft, err := until(t, func() (outbox.Draft, error) { return d.Check(t.Context(), w.account, "k") })
		require.NoError(t, err)
		require.Equal(t, outbox.DraftDeleted, draft.State)
		require.NotEmpty(t, draft.SentMessageID)
		said, all := w.sentBefore(worldtest.Reply(message, "Yes."))
		require.Contains(t, said, "a reply to this message may have been sent to ann@example.com on ")
		require.False(t, all, "a person decides")
	})
}
