package pipeline

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// A model that is asked again waits as it does for new mail: a dry run leaves nothing, and the next start asks about
// what a spent budget or a dry run has given back.
func TestWhatIsAskedAgainIsDueAtTheNextStart(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		asked, spent := 0, false
		want := postroom.Archive
		with := func(dry bool) *Pipeline {
			return w.pipeline(Config{Safety: safety.Config{DryRun: dry},
				Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) { return nil, nil },
				Model: func(*Pipeline) (postroom.Decider, error) {
					return postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) {
						asked++
						if spent {
							return postroom.Decision{}, queue.Defer(errors.New("the budget is spent"), time.Hour)
						}
						return postroom.Decision{Action: want, Source: postroom.SourceModel, Confidence: 1, Rationale: "so"}, nil
					}), nil
				}})
		}
		work := func(p *Pipeline) {
			require.NoError(t, p.Backlog.AskAgain(t.Context()))
			_, err := p.RunUntilIdle(t.Context())
			require.NoError(t, err)
		}
		p := with(false)
		id := w.add(p, "ada@example.org")
		w.deliver("ada@example.org", "From: eve@example.com\r\nSubject: tea\r\n\r\nNow?\r\n")
		work(p)
		require.Equal(t, "archive", w.action(p, id))
		job, err := rules.NewDecideAgainJob(id, w.decisions(p, id)[0].MessageID, "", postroom.Decision{})
		require.NoError(t, err)
		_, err = p.Queue.Enqueue(t.Context(), job)
		require.NoError(t, err)

		for _, state := range []struct {
			name       string
			dry, spent bool
			waits      Undecided
		}{{"in a dry run", true, false, Undecided{Tried: 1}}, {"without a budget", false, true, Undecided{Model: 1}},
			{"in another dry run", true, false, Undecided{Tried: 1}}} {
			asked, spent = 0, state.spent
			p = with(state.dry)
			work(p)
			require.Equal(t, 1, asked, state.name)
			require.Len(t, w.decisions(p, id), 1, state.name)
			waits, err := p.Backlog.CountUndecided(t.Context())
			require.NoError(t, err)
			require.Equal(t, state.waits, waits, state.name)
		}
		want, spent = postroom.Star, false
		p = with(false)
		work(p)
		require.Equal(t, postroom.Star, w.decisions(p, id)[0].Decision.Action, "as if there had been no dry run")
		waits, err := p.Backlog.CountUndecided(t.Context())
		require.NoError(t, err)
		require.Zero(t, waits)
	})
}
