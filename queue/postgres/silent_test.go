package postgres_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A silentProxy stands before a server and can stop forwarding without closing anything, as a network does that fails.
type silentProxy struct {
	listener net.Listener
	server   string
	gone     atomic.Bool
	unheard  chan struct{} // something was said since it stopped forwarding
	mu       sync.Mutex
	conns    []net.Conn
}

func startSilentProxy(t *testing.T, server string) *silentProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return startSilentProxyOn(t, listener, server)
}

func startSilentProxyOn(t *testing.T, listener net.Listener, server string) *silentProxy {
	t.Helper()
	p := &silentProxy{listener: listener, server: server, unheard: make(chan struct{}, 1)}
	var wg sync.WaitGroup
	wg.Go(func() { p.accept(&wg) })
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		for _, conn := range p.conns {
			_ = conn.Close()
		}
		p.mu.Unlock()
		wg.Wait()
	})
	return p
}

func (p *silentProxy) accept(wg *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		wg.Go(func() { _, _ = io.Copy(p.to(client), server) })
		wg.Go(func() { _, _ = io.Copy(p.to(server), client) })
	}
}

// to is the connection while the proxy forwards.
func (p *silentProxy) to(conn net.Conn) io.Writer { return silencer{p, conn} }

type silencer struct {
	proxy *silentProxy
	conn  net.Conn
}

func (s silencer) Write(b []byte) (int, error) {
	if s.proxy.gone.Load() {
		select {
		case s.proxy.unheard <- struct{}{}:
		default:
		}
		return len(b), nil
	}
	return s.conn.Write(b)
}

func TestCloseReturnsWhenTheServerIsGoneWithoutAWord(t *testing.T) {
	dsn, err := url.Parse(dbtest.PostgresDSN(t))
	require.NoError(t, err)
	proxy := startSilentProxy(t, dsn.Host)
	dsn.Host = proxy.listener.Addr().String()
	db, err := postgres.Open(t.Context(), dsn.String(), nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	_, err = q.Enqueue(t.Context(), benchJob.New(1, nil))
	require.NoError(t, err)
	proxy.gone.Store(true)
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("Close has not returned in a minute")
	}
}
