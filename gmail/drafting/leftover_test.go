package drafting_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/replies"
)

// reason returns what the history says of the last change of state.
func (w *world) reason(threadID string) (reason string) {
	w.t.Helper()
	history, err := w.replies.History(w.t.Context(), w.account, threadID)
	require.NoError(w.t, err)
	for _, c := range history {
		if c.From != c.To {
			reason = c.Reason
		}
	}
	return reason
}

// ready has a draft lie ready, as old as that.
func (w *world) ready(days string) gmailtest.Message {
	w.t.Helper()
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	w.oneDraft()
	w.age("-" + days)
	return m
}

// age moves the time at which the texts were written.
func (w *world) age(days string) {
	w.t.Helper()
	past := "strftime('%Y-%m-%dT%H:%M:%fZ', written_at, '" + days + " days')"
	if w.db.Dialect() == "postgres" {
		past = "written_at + interval '" + days + " days'"
	}
	w.exec("UPDATE reply_texts SET written_at = " + past)
}

// A draft that nobody wants is deleted, if it is as it was written, and the history says why.
func TestALeftoverDraftIsDeleted(t *testing.T) {
	touches := func(w *world) {
		w.edit(w.oneDraft(), func(text string) string { return "Mine.\n" + text })
	}
	for name, tt := range map[string]struct {
		days   string
		does   func(w *world, m gmailtest.Message)
		state  replies.State
		reason string
		drafts int
	}{
		"answered by hand": {days: "1", does: func(w *world, m gmailtest.Message) { w.writes(m, "ann@example.com") },
			state: replies.Sent, reason: "answered without the draft, which was deleted"},
		"touched, and answered by hand": {days: "1", does: func(w *world, m gmailtest.Message) {
			touches(w)
			w.writes(m, "ann@example.com")
		}, state: replies.Sent, reason: "answered without the draft, which has changes and stays", drafts: 1},
		"old":         {days: "15", state: replies.Skipped, reason: "the draft lay there for 14 days, and was deleted"},
		"not yet old": {days: "13", state: replies.Drafted, drafts: 1},
		"touched, old": {days: "15", does: func(w *world, _ gmailtest.Message) { touches(w) },
			state: replies.Drafted, drafts: 1},
		"its subject is touched, old": {days: "15", does: func(w *world, _ gmailtest.Message) {
			d := w.oneDraft()
			d.Subject = "Re: Coffee?"
			w.edit(d, strings.TrimSpace)
		}, state: replies.Drafted, drafts: 1},
		"old, and to be written again": {days: "15", does: func(w *world, m gmailtest.Message) {
			w.label(rework, m.ID)
			w.learn()
		}, state: replies.Drafted, drafts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			each := eachWorld
			if tt.drafts > 0 { // nothing is asked of the database that the others do not ask
				each = func(t *testing.T, fn func(*testing.T, *world)) { fn(t, newWorld(t, dbSQLite(t))) }
			}
			each(t, func(t *testing.T, w *world) {
				m := w.ready(tt.days)
				if tt.does != nil {
					tt.does(w, m)
				}
				w.run(drafting.NewCheckJob(""))
				require.Equal(t, tt.state, w.reply(m.ThreadID).State)
				require.Equal(t, tt.reason, w.reason(m.ThreadID))
				require.Len(t, w.draftsAt(""), tt.drafts)
				shown := []string{"INBOX"}
				if tt.state == replies.Drafted {
					shown = append(shown, outboxLabel)
				}
				require.Equal(t, shown, w.labels(m.ID))
				w.sync()
				w.run(drafting.NewCheckJob(""))
				require.Equal(t, tt.state, w.reply(m.ThreadID).State, "and it stays so")
				require.Len(t, w.draftsAt(""), tt.drafts)
			})
		})
	}
}

// through makes the client anew, whose requests go over a wire.
func (w *world) through(wire *worldtest.Wire) {
	w.t.Helper()
	wire.Next = http.DefaultTransport
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"})
	var err error
	w.client, err = gmailapi.NewClient(gmailapi.ClientConfig{Endpoint: w.server.URL(),
		HTTPClient: &http.Client{Transport: &oauth2.Transport{Source: token, Base: wire}},
		Limits:     gmailapi.Limits{Unlimited: true}})
	require.NoError(w.t, err)
}

// An answer that was sent from a draft that nobody has touched stays sent and stays there, however old the draft was,
// and whenever the person has sent it: before the check, or between any two of its requests.
func TestAnAnswerSentFromADraftIsNeverDeleted(t *testing.T) {
	requests, sentLast := 1, 0 // counted as they are made
	for at := 0; at <= requests; at++ {
		w := newWorld(t, dbSQLite(t))
		ann := worldtest.OpenInbox(t, w.server, "ann@example.com")
		m := w.ready("15")
		d := w.oneDraft()
		var count atomic.Int64
		sent := at == 0
		if sent {
			w.send(d)
		}
		w.through(&worldtest.Wire{Before: func(*http.Request) {
			if count.Add(1) == int64(at) {
				_, err := w.google.Users.Drafts.Send("me", &api.Draft{Id: d.id}).Do()
				sent = err == nil
			}
		}})
		w.run(drafting.NewCheckJob(""))
		requests = max(requests, int(count.Load()))
		if !sent { // the check has deleted the draft before
			require.Empty(t, w.draftsAt(""))
			continue
		}
		sentLast = at
		w.sync()
		w.run(drafting.NewCheckJob(""))
		ann.One()
		require.Equal(t, replies.Sent, w.reply(m.ThreadID).State, at)
		page, err := w.google.Users.Messages.List("me").Q("in:sent").Do()
		require.NoError(t, err)
		require.Len(t, page.Messages, 1, "it is among the sent mail: request %d", at)
	}
	require.Greater(t, sentLast, 3, "also before the last requests")
}

// What a person writes into a draft while it is being deleted stays, between whichever of the requests. Only when
// Gmail has been asked to delete it is it too late.
func TestWhatIsWrittenWhileADraftIsDeletedStays(t *testing.T) {
	edits := 0
	for at := int64(1); ; at++ {
		w := newWorld(t, dbSQLite(t))
		m := w.ready("15")
		d := w.oneDraft()
		var count atomic.Int64
		late := false
		w.through(&worldtest.Wire{Before: func(r *http.Request) {
			if count.Add(1) != at {
				return
			}
			if late = r.Method == http.MethodDelete; !late {
				w.edit(d, func(string) string { return "My own words." })
			}
		}})
		w.run(drafting.NewCheckJob(""))
		if late {
			break
		}
		edits++
		require.Contains(t, w.oneDraft().Text, "My own words.", "request %d", at)
		require.NotEqual(t, replies.Sent, w.reply(m.ThreadID).State)
	}
	require.Greater(t, edits, 3, "also right before it is deleted")
}

// What Gmail is about to send is no draft, although it is still listed.
func TestADraftThatIsBeingSentIsLeftAlone(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.ready("15")
	var looks atomic.Int64
	w.through(&worldtest.Wire{After: func(r *http.Request, answer *http.Response) {
		if r.URL.Query().Get("format") != "raw" || looks.Add(1) > 1 {
			return
		}
		body, _ := io.ReadAll(answer.Body)
		worldtest.SetBody(answer, strings.Replace(string(body), `"DRAFT"`, `"SENT"`, 1))
		w.age("+15") // younger when it is looked at again
	}})
	w.run(drafting.NewCheckJob(""))
	require.Greater(t, looks.Load(), int64(0))
	w.oneDraft()
	require.Equal(t, replies.Drafted, w.reply(m.ThreadID).State)
}

// While all is stopped, nothing is deleted.
func TestALeftoverDraftWaitsWhileAllIsHeld(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	m := w.ready("15")
	var looks atomic.Int64
	w.cfg.Held = func(context.Context) error {
		if looks.Add(1) > 1 {
			return nil
		}
		w.oneDraft()
		return &postroom.HeldError{Reason: "stopped"}
	}
	var err error
	w.service, err = drafting.New(w.cfg)
	require.NoError(t, err)
	w.run(drafting.NewCheckJob(""))
	require.Greater(t, looks.Load(), int64(1))
	require.Empty(t, w.draftsAt(""))
	require.Equal(t, replies.Skipped, w.reply(m.ThreadID).State)
}
