package queueadmin_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// What a call has left behind whose process has died delays the next one, and no more. A call that is alive and was
// taken for dead goes on, unless another has begun.
func TestMoveGoesOnAfterACallThatHasDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, err := sqlite.OpenMemory(t.Context())
		require.NoError(t, err)
		to, err := sqlite.OpenMemory(t.Context())
		require.NoError(t, err)
		require.NoError(t, queue.Migrate(t.Context(), from))
		require.NoError(t, queue.Migrate(t.Context(), to))
		old := on(t, from, nil)
		enqueue(t, old, nil)
		_, err = from.Driver().Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: "move:dead", First: true,
			Now: time.Now()})
		require.NoError(t, err)
		began := time.Now()
		report, err := queueadmin.Move(t.Context(), from, to, nil)
		require.NoError(t, err)
		require.Equal(t, 1, report.Jobs)
		require.InDelta(t, 10, time.Since(began).Seconds(), 2)
		workers, err := from.Driver().Workers(t.Context())
		require.NoError(t, err)
		require.Empty(t, workers)

		enqueue(t, old, nil)
		running, err := old.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() {
			_, err := queueadmin.Move(t.Context(), from, to, nil)
			ended <- err
		}()
		removeAll := func() {
			t.Helper()
			time.Sleep(time.Minute + 250*time.Millisecond) // it waits for the job, and shows itself each second
			workers, err := from.Driver().Workers(t.Context())
			require.NoError(t, err)
			require.Empty(t, ended)
			for _, w := range workers {
				require.NoError(t, from.Driver().RemoveWorker(t.Context(), w.ID))
			}
		}
		removeAll()
		removeAll()
		_, err = from.Driver().Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: "move:later", First: true,
			Now: time.Now()})
		require.NoError(t, err)
		require.ErrorIs(t, <-ended, queueadmin.ErrMoving)
		require.NoError(t, running[0].Complete(t.Context(), nil))
		require.NoError(t, from.Close())
		require.NoError(t, to.Close())
	})
}

// A process on a host whose name begins with "move-" is none of Move.
func TestMoveTakesNoWorkerForACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, err := sqlite.OpenMemory(t.Context())
		require.NoError(t, err)
		to, err := sqlite.OpenMemory(t.Context())
		require.NoError(t, err)
		require.NoError(t, queue.Migrate(t.Context(), from))
		require.NoError(t, queue.Migrate(t.Context(), to))
		_, err = from.Driver().Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: "move-host-1-0a1b2c3d", First: true,
			Now: time.Now()})
		require.NoError(t, err)
		began := time.Now()
		_, err = queueadmin.Move(t.Context(), from, to, nil)
		require.NoError(t, err)
		require.Less(t, time.Since(began), time.Second)
		workers, err := from.Driver().Workers(t.Context())
		require.NoError(t, err)
		require.Len(t, workers, 1)
		require.NoError(t, from.Close())
		require.NoError(t, to.Close())
	})
}
