package postgres_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A cuttingProxy stands before a server. It ends the first connection by which a job was completed, and keeps to itself
// that this has been committed.
type cuttingProxy struct {
	listener net.Listener
	cut      atomic.Bool
}

func startCuttingProxy(t *testing.T, server string) *cuttingProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &cuttingProxy{listener: listener}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.forward(client, server) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		wg.Wait()
	})
	return p
}

func (p *cuttingProxy) forward(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	var completes atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		pass(server, client, func(sent []byte) bool {
			if bytes.Contains(sent, []byte("SET state = 'completed'")) {
				completes.Store(true)
			}
			return true
		})
	}()
	pass(client, server, func(answer []byte) bool {
		return !bytes.Contains(answer, []byte("COMMIT\x00")) || !completes.Load() || p.cut.Swap(true)
	})
	<-done
}

// pass forwards as long as look allows it, and closes both.
func pass(to io.WriteCloser, from io.ReadCloser, look func([]byte) bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || !look(buf[:n]) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// The end of a job is committed and the answer lost: it is told of all the same, once, and not as if it had been
// refused.
func TestAnEndWhoseAnswerWasLostIsTold(t *testing.T) {
	dsn, err := url.Parse(dbtest.With(t, dbtest.MigratedDSN(t), "sslmode", "disable"))
	require.NoError(t, err)
	proxy := startCuttingProxy(t, dsn.Host)
	dsn.Host = proxy.listener.Addr().String()
	db, err := postgres.Open(t.Context(), dsn.String(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(t, err)
	queue.Handle(d, count, func(_ context.Context, w *queue.Work[int]) error {
		w.Logger().Info("it is kept once")
		return nil
	})
	told, err := q.Subscribe(queue.EventFilter{Kinds: []queue.EventKind{queue.EventCompleted}})
	require.NoError(t, err)
	defer told.Close()
	enqueued, err := q.Enqueue(t.Context(), count.New(1, nil))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	within(t, func() error {
		event, err := told.Next(t.Context())
		require.Equal(t, enqueued.ID, event.JobID)
		return err
	})
	require.True(t, proxy.cut.Load())
	stop()
	require.NoError(t, <-ended)
	lines, err := q.Logs(t.Context(), enqueued.ID)
	require.NoError(t, err)
	require.Len(t, lines, 1)
}
