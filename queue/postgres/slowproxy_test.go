package postgres_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A slowProxy stands before a server and delays all that passes, each way, without making the line any narrower.
type slowProxy struct {
	listener net.Listener
	server   string
	delay    time.Duration
	trips    atomic.Int64 // how often a client has sent something
	wg       sync.WaitGroup
}

func startSlowProxy(tb testing.TB, server string, delay time.Duration) *slowProxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	p := &slowProxy{listener: listener, server: server, delay: delay}
	p.wg.Go(p.accept)
	tb.Cleanup(func() {
		_ = listener.Close()
		p.wg.Wait()
	})
	return p
}

func (p *slowProxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.wg.Go(func() { p.forward(server, client, &p.trips) })
		p.wg.Go(func() { p.forward(client, server, new(atomic.Int64)) })
	}
}

type parcel struct {
	due  time.Time
	data []byte
}

// forward ends when either side has closed its connection, and closes both.
func (p *slowProxy) forward(to, from net.Conn, trips *atomic.Int64) {
	parcels := make(chan parcel, 1024)
	p.wg.Go(func() {
		defer to.Close()
		for one := range parcels {
			time.Sleep(time.Until(one.due))
			if _, err := to.Write(one.data); err != nil {
				_ = from.Close()
			}
		}
	})
	defer close(parcels)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			_ = from.Close()
			return
		}
		trips.Add(1)
		parcels <- parcel{due: time.Now().Add(p.delay), data: append([]byte(nil), buf[:n]...)}
	}
}
