package unsubscribe_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/postroom-go/postroom/gmail/unsubscribe"
)

// A rebinder is a name server that gives a public address once, and the machine's own from then on.
type rebinder struct {
	net.PacketConn
	asked atomic.Int32
}

func newRebinder(t *testing.T) *rebinder {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	d := &rebinder{PacketConn: conn}
	done := make(chan struct{})
	go func() { defer close(done); d.serve() }()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	return d
}

func (d *rebinder) serve() {
	for {
		packet := make([]byte, 1500)
		n, from, err := d.ReadFrom(packet)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(packet[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true},
			Questions: m.Questions}
		if q.Type == dnsmessage.TypeA {
			at := netip.MustParseAddr("93.184.216.34")
			if d.asked.Add(1) > 1 {
				at = netip.MustParseAddr("127.0.0.1")
			}
			answer.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: at.As4()},
			}}
		}
		if text, err := answer.Pack(); err == nil {
			_, _ = d.WriteTo(text, from)
		}
	}
}

// A name that was public when somebody looked, and is private when it is asked, leads nowhere: the address that is
// connected to is the one that is checked.
func TestANameThatIsBoundToAPrivateAddress(t *testing.T) {
	l := newList(t, func(http.ResponseWriter, *http.Request) {})
	_, port, err := net.SplitHostPort(l.Listener.Addr().String())
	require.NoError(t, err)
	dns := newRebinder(t)
	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: messages{}})
	require.NoError(t, err)
	seen, err := net.DefaultResolver.LookupHost(t.Context(), "rebind.example.com.")
	require.NoError(t, err)
	require.Equal(t, []string{"93.184.216.34"}, seen)
	_, err = leaver.Leave(t.Context(), leaver.Read(newsletter("https://rebind.example.com.:"+port+"/u?token=secret")))
	require.ErrorContains(t, err, "127.0.0.1 is not a public address")
	require.NotContains(t, err.Error(), "secret")
	require.True(t, isFatal(err))
	require.Greater(t, dns.asked.Load(), int32(1))
	require.Empty(t, l.requests())
}

// A server that says nothing ends by the time-out, and is tried again. One that never ends its body has answered.
func TestASlowServer(t *testing.T) {
	for name, tt := range map[string]struct {
		begins bool
		fails  string
	}{"no answer": {false, "Client.Timeout"}, "a body that does not end": {true, ""}} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			l := newList(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.begins {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
				}
				select {
				case <-r.Context().Done():
				case <-over:
				}
			})
			defer close(over)
			leaver, err := unsubscribe.New(unsubscribe.Config{Messages: messages{}, Transport: l.Client().Transport,
				Timeout: 300 * time.Millisecond})
			require.NoError(t, err)
			receipt, err := leaver.Leave(t.Context(), leaver.Read(newsletter(l.URL+"/u")))
			if tt.fails == "" {
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, receipt.Status)
				return
			}
			require.ErrorContains(t, err, tt.fails)
			require.False(t, isFatal(err))
		})
	}
}

// What the server writes is neither kept nor told at length.
func TestAServerWithALargeHeader(t *testing.T) {
	large := strings.Repeat("x", 20_000)
	l := newList(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/odd" {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte("HTTP/1.1 404 " + large + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
				_ = conn.Close()
			}
			return
		}
		w.Header()["X"] = []string{"\x00" + large}
	})
	leaver := newLeaver(t, l)
	for path, says := range map[string]string{"/u": "malformed MIME header", "/odd": "404 Not Found"} {
		_, err := leaver.Leave(t.Context(), leaver.Read(newsletter(l.URL+path)))
		require.ErrorContains(t, err, says)
		require.Less(t, len(err.Error()), 500)
		require.NotContains(t, err.Error(), "\x00")
	}
}
