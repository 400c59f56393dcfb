// Package proxy delays the responses of a server.
package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Proxy stands between machines and a server, and delays the server's responses: a round trip takes that much longer.
// Bytes keep their order, and any number of them may be delayed at once.
type Proxy struct {
	listener net.Listener
	target   string
	delay    time.Duration
	wg       sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool
	closed   bool
}

// Start listens on a port of the loopback interface. The target is a host and a port, or the path of a socket.
func Start(ctx context.Context, target string, delay time.Duration) (*Proxy, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, delay: delay, conns: map[net.Conn]bool{}}
	p.wg.Go(p.accept)
	return p, nil
}

// Address is a host and a port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends all connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for conn := range p.conns {
		err = errors.Join(err, conn.Close())
	}
	p.mu.Unlock()
	p.wg.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	network := "tcp"
	if p.target[0] == '/' {
		network = "unix"
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(context.Background(), network, p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	if !p.keep(client, server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, client)
		p.drop(client, server)
	})
	both.Go(func() {
		copyLate(client, server, p.delay)
		p.drop(client, server)
	})
	both.Wait()
}

// keep notes connections for Close; it closes them at once when the proxy is closed already.
func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.closed {
			_ = conn.Close()
			continue
		}
		p.conns[conn] = true
	}
	return !p.closed
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.conns[conn] {
			delete(p.conns, conn)
			_ = conn.Close()
		}
	}
}

type lateBytes struct {
	bytes []byte
	due   time.Time
}

// copyLate writes what it reads after the delay.
func copyLate(to io.Writer, from io.Reader, delay time.Duration) {
	if delay == 0 {
		_, _ = io.Copy(to, from)
		return
	}
	chunks := make(chan lateBytes, 1024)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				chunks <- lateBytes{buffer[:n], time.Now().Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	failed := false
	for chunk := range chunks {
		if failed {
			continue
		}
		time.Sleep(time.Until(chunk.due))
		_, err := to.Write(chunk.bytes)
		failed = err != nil
	}
}
