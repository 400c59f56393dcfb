package away_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/queue"
)

// unanswered returns the reason on record.
func (w *world) unanswered(msg *postroom.Message) string {
	w.Helper()
	why, at, err := away.Unanswered(w.Context(), w.db, w.account, msg.ID)
	require.NoError(w, err)
	if why != "" {
		require.Equal(w, w.now, at.UTC())
	}
	return why
}

// Whoever asks why a mail has no answer finds the reason on record, and none about mail that was answered, or came when
// nobody was away.
func TestWhyAMessageIsNotAnsweredIsOnRecord(t *testing.T) {
	onBoth(t, func(w *world) {
		early := w.message("eve@example.com")
		require.False(w, w.answered(early))
		require.Empty(w, w.unanswered(early))
		w.set(away.Absence{})

		for want, change := range map[string]func(m *postroom.Message){
			"it came by a list (List-Id)": func(m *postroom.Message) {
				m.Headers = append(m.Headers, postroom.Header{Name: "List-Id", Value: "<tea.example.com>"})
			},
			"it came by a list (list-" + strings.Repeat("ä", 238) + "…": func(m *postroom.Message) {
				m.Headers = append(m.Headers, postroom.Header{Name: "list-" + strings.Repeat("ä", 10_000), Value: "x"})
			},
			"it is addressed to others": func(m *postroom.Message) { m.To = nil },
		} {
			msg := w.message("eve@example.com")
			change(msg)
			require.False(w, w.answered(msg))
			require.Equal(w, want, w.unanswered(msg))
		}
		for action, want := range map[postroom.ActionType]string{
			postroom.AutoReply: "the rule 'tea' answers it", postroom.Trash: "the rule 'tea' throws it away",
		} {
			msg := w.message("eve@example.com")
			require.False(w, w.answered(msg, postroom.Decision{Action: action, Source: postroom.SourceDeterministic,
				RuleName: "tea"}))
			require.Equal(w, want, w.unanswered(msg))
		}

		first, second := w.message("eve@example.com"), w.message("eve+tag@example.com")
		require.True(w, w.answered(first))
		require.False(w, w.answered(second))
		require.False(w, w.answered(first), "it is decided about again")
		require.Empty(w, w.unanswered(first))
		require.Equal(w, "an earlier message of its sender has the answer", w.unanswered(second))
		w.write(func(ctx context.Context, tx queue.Tx) error { return away.Forget(ctx, tx, w.account) })
		require.Empty(w, w.unanswered(second))
	})
}

// The answer that was to be sent is not, if the absence is changed between the decision and its transaction.
func TestAChangeDuringADecisionIsOnRecord(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		msg := w.message("eve@example.com")
		record, err := w.service.Decide(w.Context(), msg, nil, w)
		require.NoError(w, err)
		w.set(away.Absence{Days: 4})
		w.write(record)
		require.Empty(w, w.recorded)
		require.Equal(w, "the absence was changed or ended just then", w.unanswered(msg))
	})
}

// A bound that is reached is the reason of all mail after it.
func TestABoundThatIsReachedIsOnRecord(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		require.Equal(w, 100, w.answeredOf(101, "a%d@evil.example"))
		msg := w.message("zoe@example.com")
		require.False(w, w.answered(msg))
		require.Equal(w, "100 senders were answered within 24 hours, and no more are", w.unanswered(msg))
	})
}

// What is old is deleted, by its index.
func TestReasonsArePrunedByTheirAge(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		pass := func(n int) (last *postroom.Message) {
			for range n {
				last = w.message("eve@example.com")
				last.To = nil
				require.False(w, w.answered(last))
			}
			return last
		}
		old := pass(501)
		w.now = w.now.Add(time.Hour)
		late := pass(1)
		deleted, err := away.Prune(w.Context(), w.db, w.now)
		require.NoError(w, err)
		require.Equal(w, 501, deleted)
		require.Empty(w, w.unanswered(old))
		require.NotEmpty(w, w.unanswered(late))
		deleted, err = away.Prune(w.Context(), w.db, w.now)
		require.NoError(w, err)
		require.Zero(w, deleted)
	})
}
