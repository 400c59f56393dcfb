package driver_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

type colour struct{}

func TestBegunOutlivesItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), colour{}, "red"))
	begun := driver.Begun(ctx)
	cancel()
	require.NoError(t, begun.Err())
	require.Equal(t, "red", begun.Value(colour{}))
}

func TestBegunEndsWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	outer, interruptOuter := driver.WithInterrupt(ctx)
	defer interruptOuter()
	inner, interruptInner := driver.WithPatience(context.WithValue(outer, colour{}, "red"), time.Hour)
	defer interruptInner()
	begun, also := driver.Begun(inner), driver.Begun(outer)
	derived, release := context.WithCancel(context.WithValue(begun, colour{}, "blue"))
	defer release()
	require.Equal(t, "red", begun.Value(colour{}))
	require.Equal(t, "blue", derived.Value(colour{}))

	cancel()
	require.ErrorIs(t, inner.Err(), context.Canceled)
	require.NoError(t, begun.Err())
	interruptInner()
	require.ErrorIs(t, begun.Err(), context.Canceled)
	require.ErrorIs(t, derived.Err(), context.Canceled)
	require.NoError(t, also.Err(), "what contains it goes on")
	interruptOuter()
	require.ErrorIs(t, also.Err(), context.Canceled)
}

func TestBegunEndsWithWhatContainsIt(t *testing.T) {
	outer, interrupt := driver.WithInterrupt(t.Context())
	inner, release := driver.WithPatience(context.WithoutCancel(outer), time.Hour)
	defer release()
	begun := driver.Begun(driver.Begun(inner))
	interrupt()
	require.ErrorIs(t, begun.Err(), context.Canceled)
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, release := driver.WithPatience(t.Context(), time.Minute)
		defer release()
		begun := driver.Begun(ctx)
		time.Sleep(time.Minute - time.Nanosecond)
		require.NoError(t, ctx.Err())
		require.NoError(t, begun.Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		require.ErrorIs(t, begun.Err(), context.DeadlineExceeded)
	})
}
