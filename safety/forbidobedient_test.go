package safety_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// TestAnObedientModelDoesNothingForbidden: the model does what the mail says, and is not even told what is forbidden.
// What an instruction forbids for the sender is canceled; the rest, and the mail of others, is as it would be.
func TestAnObedientModelDoesNothingForbidden(t *testing.T) {
	db := dbtest.SQLite(t)
	for _, migrate := range []func(context.Context, queue.DB) error{safety.Migrate, guidance.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	instructions, err := guidance.New(guidance.Config{DB: db})
	require.NoError(t, err)
	write := func(fn func(ctx context.Context, tx queue.Tx) error) { require.NoError(t, db.Write(t.Context(), fn)) }
	write(func(ctx context.Context, tx queue.Tx) error {
		_, err := instructions.Create(ctx, tx, guidance.Instruction{
			Scope: guidance.ScopeSender, ScopeRef: "mallory@evil.example", Forbids: []postroom.ActionType{postroom.Archive,
				postroom.Trash, postroom.Delete}, Enabled: true,
		})
		return err
	})
	var passed []postroom.Action
	ledger, err := safety.NewLedger(safety.Config{DB: db, Forbids: instructions,
		Execute: func(_ context.Context, _ queue.Tx, a postroom.Action) error {
			passed = append(passed, a)
			return nil
		}})
	require.NoError(t, err)
	decider, err := decide.New(decide.Config{Client: llmtest.Obedient{}})
	require.NoError(t, err)

	states := map[string]postroom.ActionState{}
	for _, sender := range []string{"Mallory@evil.example", "ann@example.com"} {
		for _, says := range []string{"archive", "trash", "delete", "star"} {
			msg := &postroom.Message{ID: sender + says, AccountID: "a", From: postroom.Address{Email: sender},
				BodyPlain: llmtest.Decision(says, "{}", 1)}
			decision, err := decider.Decide(t.Context(), msg)
			require.NoError(t, err)
			require.Equal(t, says, string(decision.Action))
			write(func(ctx context.Context, tx queue.Tx) error {
				action, err := ledger.Record(ctx, msg, decision)(ctx, tx)
				states[msg.ID] = action.State
				if action.State == postroom.ActionCanceled {
					require.Contains(t, action.Error, "no "+says+" for mail of mallory@evil.example")
				}
				return err
			})
		}
	}
	for _, says := range []string{"archive", "trash", "delete"} {
		require.Equal(t, postroom.ActionCanceled, states["Mallory@evil.example"+says], says)
		require.NotEqual(t, postroom.ActionCanceled, states["ann@example.com"+says], says)
	}
	for _, a := range passed {
		require.False(t, strings.HasPrefix(a.MessageID, "Mallory") && a.Type != postroom.Star, "%s passed", a.Type)
	}
	require.NotEqual(t, postroom.ActionCanceled, states["Mallory@evil.examplestar"], "it is not forbidden")
	waiting, err := ledger.Approvals(t.Context(), safety.Filter{Limit: 100})
	require.NoError(t, err)
	for _, w := range waiting {
		forbidden := w.Decision.Sender == "mallory@evil.example" && w.Action.Type != postroom.Star
		require.False(t, forbidden, "nobody is asked about what is forbidden")
	}
}
