package postgres_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// stopLimit is 2·Drain + Lease + 10 s, which Run promises, and something for a busy machine.
const stopLimit = 20 * time.Second

// silent is a queue behind a proxy that can fall silent.
func silent(t *testing.T) (*silentProxy, *postgres.DB, *queue.Queue) {
	t.Helper()
	dsn, err := url.Parse(dbtest.PostgresDSN(t))
	require.NoError(t, err)
	proxy := startSilentProxy(t, dsn.Host)
	dsn.Host = proxy.listener.Addr().String()
	db, err := postgres.Open(t.Context(), dsn.String(), nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return proxy, db, q
}

// stopsInTime stops a dispatcher whose server is silent, and closes its database.
func stopsInTime(t *testing.T, db *postgres.DB, stop func(), ended <-chan error) {
	t.Helper()
	began := time.Now()
	stop()
	select {
	case err := <-ended:
		require.Error(t, err, "the worker could not be removed, and that is said")
		require.Less(t, time.Since(began), stopLimit)
	case <-time.After(time.Minute):
		t.Fatal("Run has not returned in a minute")
	}
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("Close has not returned in a minute")
	}
}

func TestADispatcherStopsWhenTheServerIsGoneWithoutAWord(t *testing.T) {
	t.Parallel()
	cfg := queue.DispatcherConfig{
		Workers: 2, PollInterval: 10 * time.Millisecond, Lease: time.Second, Drain: time.Second, Prefetch: time.Minute,
	}
	t.Run("while it has nothing to do", func(t *testing.T) {
		t.Parallel()
		proxy, db, q := silent(t)
		d, err := queue.NewDispatcher(q, &cfg)
		require.NoError(t, err)
		ran := make(chan struct{})
		queue.Handle(d, tick, func(context.Context, *queue.Work[int]) error {
			close(ran)
			return nil
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		_, err = q.Enqueue(t.Context(), tick.New(1, nil))
		require.NoError(t, err)
		<-ran
		proxy.gone.Store(true)
		stopsInTime(t, db, stop, ended)
	})
	t.Run("in the middle of jobs", func(t *testing.T) {
		t.Parallel()
		proxy, db, q := silent(t)
		for i := range 20 { // some wait claimed, and are to be given back
			_, err := q.Enqueue(t.Context(), tick.New(i, nil))
			require.NoError(t, err)
		}
		d, err := queue.NewDispatcher(q, &cfg)
		require.NoError(t, err)
		writing := make(chan struct{}, 20)
		queue.Handle(d, tick, func(ctx context.Context, w *queue.Work[int]) error {
			if err := w.Write(ctx, func(context.Context, queue.Tx) error { return nil }); err != nil {
				return err
			}
			proxy.gone.Store(true)
			writing <- struct{}{}
			if w.Payload%2 == 0 {
				return nil // and the end of the attempt is to be written
			}
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "SELECT 1")
				return err
			})
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		<-writing
		stopsInTime(t, db, stop, ended)
	})
	t.Run("while it starts", func(t *testing.T) {
		t.Parallel()
		proxy, db, q := silent(t)
		d, err := queue.NewDispatcher(q, &cfg)
		require.NoError(t, err)
		queue.Handle(d, tick, func(context.Context, *queue.Work[int]) error { return nil })
		proxy.gone.Store(true)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		<-proxy.unheard
		stopsInTime(t, db, stop, ended)
	})
}
