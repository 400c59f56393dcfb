package mailstore

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/queue"
)

func TestAccountStates(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *Store, q *queue.Queue, id string) {
		fresh := getAccount(t, s, id)
		require.Equal(t, AccountActive, fresh.State)
		require.Equal(t, fresh.CreatedAt, fresh.Since)
		require.NoError(t, fresh.Usable())

		pause(t, s, q, id, "on holiday")
		paused := getAccount(t, s, id)
		require.Equal(t, AccountPaused, paused.State)
		require.Equal(t, "on holiday", paused.Reason)
		require.True(t, paused.Since.After(fresh.Since))
		require.True(t, isPaused(t, q, id))
		require.Equal(t, gmailapi.ClassPaused, gmailapi.ClassOf(paused.Usable()))
		require.EqualError(t, paused.Usable(),
			"gmail: use account me@example.com: account paused: on holiday; resume the account")

		pause(t, s, q, id, "ill")
		again := getAccount(t, s, id)
		require.Equal(t, "ill", again.Reason)
		require.Equal(t, paused.Since, again.Since)

		// A person's pause goes before what the server says.
		lose := func(account Account) (lost bool) {
			write(t, s, func(ctx context.Context, tx queue.Tx) (err error) {
				lost, err = s.Progress().LoseGrant(ctx, tx, q, account, errors.New("revoked"))
				return err
			})
			return lost
		}
		require.False(t, lose(again))
		resume(t, s, q, id)
		resume(t, s, q, id)
		active := getAccount(t, s, id)
		require.Equal(t, AccountActive, active.State)
		require.Empty(t, active.Reason)
		require.False(t, isPaused(t, q, id))

		require.False(t, lose(fresh), "what an attempt from before the new sign-in says is old")
		require.True(t, lose(active))
		require.False(t, lose(active), "once")
		lost := getAccount(t, s, id)
		require.Equal(t, AccountReauthorize, lost.State)
		require.Equal(t, "revoked", lost.Reason)
		require.True(t, isPaused(t, q, id))
		require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(lost.Usable()))
		resume(t, s, q, id)
		require.False(t, isPaused(t, q, id))

		require.ErrorIs(t, s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return s.Pause(ctx, tx, q, "nobody", "")
		}), postroom.ErrNotFound)
		require.ErrorContains(t, s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return s.Resume(ctx, tx, nil, id)
		}), "the Queue is nil")
	})
}

// The state and the pause of the jobs are one transaction.
func TestStateIsPartOfTheTransaction(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *Store, q *queue.Queue, id string) {
		undone := errors.New("undone")
		require.ErrorIs(t, s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			require.NoError(t, s.Pause(ctx, tx, q, id, ""))
			return undone
		}), undone)
		require.Equal(t, AccountActive, getAccount(t, s, id).State)
		require.False(t, isPaused(t, q, id))
	})
}
