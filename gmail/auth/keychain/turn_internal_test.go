package keychain

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A keychain that asks the person keeps the others waiting. Whoever gives up meanwhile has asked for nothing.
func TestWhoGivesUpBeforeItsTurnAsksForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("")
		person := make(chan struct{})
		first := make(chan error, 1)
		asked := make(chan struct{})
		firstCtx, leave := context.WithCancel(t.Context())
		go func() {
			_, err := do(firstCtx, s, "first", func() (none, error) {
				close(asked)
				<-person
				return none{}, nil
			})
			first <- err
		}()
		<-asked

		ctx, cancel := context.WithCancelCause(t.Context())
		second := make(chan error, 1)
		ran := false
		go func() {
			_, err := do(ctx, s, "second", func() (none, error) {
				ran = true
				return none{}, nil
			})
			second <- err
		}()
		synctest.Wait()
		cancel(errors.New("enough"))
		require.ErrorContains(t, <-second, "keychain: second: no answer: enough")
		leave() // the first one has asked: it gives up, and the question stays
		require.ErrorIs(t, <-first, context.Canceled)
		third := make(chan error, 1)
		go func() {
			_, err := do(t.Context(), s, "third", func() (none, error) { return none{}, errors.New("locked") })
			third <- err
		}()
		synctest.Wait()
		require.Empty(t, third, "one at a time, also after the first has given up")
		close(person)
		require.EqualError(t, <-third, "keychain: third: locked")
		synctest.Wait()
		require.False(t, ran)
	})
}
