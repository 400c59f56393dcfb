package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const wakeJob queue.Type[int] = "wake"

// waiting runs a dispatcher that would poll once an hour, and tells when a job starts.
func waiting(t *testing.T, db *sqlite.DB) <-chan time.Time {
	t.Helper()
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Hour, Lease: time.Hour})
	require.NoError(t, err)
	started := make(chan time.Time, 100)
	queue.Handle(d, wakeJob, func(context.Context, *queue.Work[int]) error {
		started <- time.Now()
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-stopped)
	})
	return started
}

func TestJobsOfAnotherProcessWakeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	here, there := openPath(t, path, nil), openPath(t, path, nil)
	require.NoError(t, queue.Migrate(t.Context(), here))
	started := waiting(t, there)
	q, err := queue.New(here, nil)
	require.NoError(t, err)
	for i := range 20 {
		enqueued := time.Now()
		_, err := q.Enqueue(t.Context(), wakeJob.New(i, nil))
		require.NoError(t, err)
		require.Less(t, (<-started).Sub(enqueued), 10*time.Second, "the poll would take an hour")
	}
}

func TestListenersComeAndGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	here, there := openPath(t, path, nil), openPath(t, path, nil)
	createNotes(t, here)
	for i := range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		woken := make(chan struct{}, 1000)
		done := make(chan error, 1)
		go func() { done <- there.Driver().Listen(ctx, func() { woken <- struct{}{} }) }()
		<-woken // it listens
		require.NoError(t, driver.Write(t.Context(), here,
			func(ctx context.Context, tx *driver.WriteTx) error { return insertNote(ctx, tx, i) }))
		<-woken
		cancel()
		require.NoError(t, <-done)
	}
}
