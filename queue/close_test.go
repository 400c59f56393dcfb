package queue_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A dispatcher whose database has been closed waits for nothing that cannot come.
func TestADispatcherOfAClosedDatabaseStops(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		entered, leave := make(chan struct{}), make(chan struct{})
		quiet := slog.New(slog.DiscardHandler)
		stop := start(t, q, &queue.DispatcherConfig{Logger: quiet}, func(context.Context, *queue.Work[int]) error {
			close(entered)
			<-leave
			return nil
		})
		enqueue(t, q, nil)
		<-entered
		closer, ok := db.(io.Closer)
		require.True(t, ok)
		require.NoError(t, closer.Close())
		began := time.Now()
		close(leave)
		err := stop()
		require.ErrorContains(t, err, "the ends of some jobs could not be written; they will run again")
		require.Less(t, time.Since(began), 15*time.Second)
	})
}
