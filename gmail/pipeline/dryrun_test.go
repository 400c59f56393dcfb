package pipeline

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// A run that is no dry run decides about the mail of dry runs as if there had been none.
func TestADryRunLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		var told sync.Map
		dry := Config{Rules: archiveAll, Safety: safety.Config{DryRun: true},
			Tried: func(_ context.Context, msg *postroom.Message, e safety.Entry) {
				told.Store(msg.Subject, e.Action.Type)
			}}
		p := w.pipeline(dry)
		id := w.add(p, "ada@example.org")
		w.deliver("ada@example.org", "From: eve@example.com\r\nSubject: tea\r\n\r\nNow?\r\n")
		for range 2 { // another dry run decides again
			told.Clear()
			require.NoError(t, p.Backlog.AskAgain(t.Context()))
			_, err := p.RunUntilIdle(t.Context())
			require.NoError(t, err)
			action, ok := told.Load("tea")
			require.True(t, ok)
			require.Equal(t, postroom.Archive, action)
			require.Empty(t, w.decisions(p, id))
			waits, err := p.Backlog.CountUndecided(t.Context())
			require.NoError(t, err)
			require.Equal(t, Undecided{Tried: 1}, waits)
		}
		p = w.pipeline(Config{Rules: archiveAll})
		require.NoError(t, p.Backlog.AskAgain(t.Context()))
		_, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Equal(t, "archive", w.action(p, id))
	})
}

func archiveAll(context.Context, mailstore.Account) (*rulesfile.File, error) {
	return rulesfile.Parse("rules.yaml", strings.NewReader(archives))
}
