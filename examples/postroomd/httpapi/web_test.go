package httpapi

import (
	"bufio"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Somebody is sent to an address that a browser of this machine reaches.
func TestTheAddressOfAServerIsOneThatBrowsersReach(t *testing.T) {
	for at, url := range map[string]string{"0.0.0.0:0": "http://127.0.0.1:", "[::]:0": "http://127.0.0.1:",
		"127.0.0.1:0": "http://127.0.0.1:"} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", at)
		require.NoError(t, err)
		require.Contains(t, URLOf(listener), url)
		require.NoError(t, listener.Close())
	}
}

// A client that sends or reads too slowly does not keep a connection.
func TestASlowClientIsCutOff(t *testing.T) {
	for name, request := range map[string]string{
		"a body that never ends": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
		"an answer unread":       "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				listener := newPipeListener()
				w := Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, err := bufio.NewReader(r.Body).ReadString('!')
					if r.Method == http.MethodGet {
						for err = nil; err == nil; {
							_, err = w.Write(make([]byte, 1<<16))
						}
					}
					ended <- err
				}), func() {})
				client := listener.dial()
				_, err := client.Write([]byte(request))
				require.NoError(t, err)
				began := time.Now()
				require.Error(t, <-ended)
				require.LessOrEqual(t, time.Since(began), time.Minute)
				require.NoError(t, client.Close())
				require.NoError(t, w.Close())
			})
		})
	}
}

// A pipeListener is a listener whose connections are pipes, on which waiting is not waiting for the network.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
