package gmail

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// What a person does to a message just before an action of ours is theirs: it is reported once, by the history.
func TestWhatAPersonDoesBeforeAnActionIsReported(t *testing.T) {
	carriers := map[string]func(w *world, message string){
		"action": func(w *world, message string) { w.act(message, postroom.Archive, "") },
		"action that changes nothing more": func(w *world, message string) {
			w.act(message, postroom.Star, "")
			w.act(message, postroom.Archive, "")
		},
		"undo": func(w *world, message string) { w.undo(message, remove("INBOX")) },
	}
	for name, carry := range carriers {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				var events heard
				events.listen(&w.cfg)
				id := w.backfilled(1)[0]
				w.modify(id, add("STARRED"))
				carry(w, w.ours(id))
				w.run(NewHistorySyncJob(w.account, 0))
				require.Equal(t, []string{fmt.Sprintf("history: %s +[STARRED] -[] =[STARRED]", id)}, events.take())
				require.Equal(t, w.atGmail(), w.stored())
			})
		})
	}
}

// What a person has deleted is reported once, whoever finds it gone first.
func TestADeletionThatAnActionFindsIsReported(t *testing.T) {
	finders := map[string]func(w *world, message string){
		"action": func(w *world, message string) { w.act(message, postroom.Archive, "") },
		"wake-up": func(w *world, message string) {
			w.run(NewUnsnoozeJob(UnsnoozePayload{w.account, message, "a", "b"}, time.Now()))
		},
	}
	for name, find := range finders {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				var events heard
				events.listen(&w.cfg)
				id := w.backfilled(1)[0]
				message := w.ours(id)
				require.NoError(t, w.google.Users.Messages.Delete("me", id).Do())
				find(w, message)
				w.run(NewHistorySyncJob(w.account, 0))
				require.Equal(t, []string{fmt.Sprintf("action: %s deleted", id)}, events.take())
				require.Empty(t, w.stored())
			})
		})
	}
	w := newWorld(t)
	var events heard
	events.listen(&w.cfg)
	w.act(w.ours(w.backfilled(1)[0]), postroom.Delete, "")
	w.run(NewHistorySyncJob(w.account, 0))
	require.Empty(t, events.take(), "a deletion by an action of ours is none")
}

// syncNow applies the history as a sync does that comes in between.
func (w *world) syncNow() {
	w.t.Helper()
	page, err := w.client.ListHistory(w.t.Context(), w.state().HistoryID, "")
	require.NoError(w.t, err)
	j := &jobs{Config: w.cfg}
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error {
		if _, err := j.applyEvents(ctx, tx, w.account, page.Events); err != nil {
			return err
		}
		return w.store.Progress().MoveCursor(ctx, tx, w.account, cursorAfter(page), true)
	})
}

// Between Gmail's answer and our commit a person takes the change back and a sync stores that: it is newer than the
// answer.
func TestAnAnswerThatASyncHasOvertaken(t *testing.T) {
	back := map[string]postroom.LabelChange{"action": add("INBOX"), "undo": add("INBOX"), "wake-up": remove("INBOX")}
	carriers := map[string]func(w *world, message string){
		"action": func(w *world, message string) { w.act(message, postroom.Archive, "") },
		"undo":   func(w *world, message string) { w.undo(message, remove("INBOX")) },
		"wake-up": func(w *world, message string) {
			label := w.userLabel("Asleep")
			w.cfg.SnoozeLabel = "Asleep"
			w.modify(w.theirs(message), postroom.LabelChange{Add: []string{label}, Remove: []string{"INBOX"}})
			w.run(NewHistorySyncJob(w.account, 0))
			w.run(NewUnsnoozeJob(UnsnoozePayload{AccountID: w.account, MessageID: message, ActionID: "a",
				SnoozeLabelID: label}, time.Now()))
		},
	}
	for name, carry := range carriers {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				id := w.backfilled(1)[0]
				w.wire.After = func(r *http.Request, _ *http.Response) {
					if strings.HasSuffix(r.URL.Path, "/modify") {
						w.wire.After = nil
						w.modify(id, add("STARRED"))
						w.modify(id, back[name])
						w.syncNow()
					}
				}
				carry(w, w.ours(id))
				require.Nil(t, w.wire.After, "the message was changed")
				w.run(NewHistorySyncJob(w.account, 0))
				require.Equal(t, w.atGmail(), w.stored())
			})
		})
	}
}

// undo changes a message as package undo does.
func (w *world) undo(message string, change postroom.LabelChange) {
	w.t.Helper()
	store, err := w.mailbox().Follow(w.t.Context(), w.account, message)
	require.NoError(w.t, err)
	image, err := w.mailbox().Apply(w.t.Context(), w.account, message, change)
	require.NoError(w.t, err)
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error { return store(ctx, tx, change, image) })
}

func (w *world) theirs(message string) string {
	w.t.Helper()
	m, err := w.store.Message(w.t.Context(), w.account, message)
	require.NoError(w.t, err)
	return m.ProviderID
}
