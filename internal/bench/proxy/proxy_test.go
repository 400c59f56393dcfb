package proxy

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A proxy holds answers back and changes nothing about them.
func TestAProxyDelaysAnswers(t *testing.T) {
	server, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		conn, err := server.Accept()
		if err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	const delay = 20 * time.Millisecond
	p, err := Start(t.Context(), server.Addr().String(), delay)
	require.NoError(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Address())
	require.NoError(t, err)
	for _, text := range []string{"first", "and then the second"} {
		begin := time.Now()
		_, err = conn.Write([]byte(text))
		require.NoError(t, err)
		answer := make([]byte, len(text))
		_, err = io.ReadFull(conn, answer)
		require.NoError(t, err)
		require.Equal(t, text, string(answer))
		require.GreaterOrEqual(t, time.Since(begin), delay)
	}
	require.NoError(t, p.Close())
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err, "closing a proxy ends its connections")
	require.NoError(t, server.Close())
}
