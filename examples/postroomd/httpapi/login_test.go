package httpapi

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

// A proxy on this machine is not told from other programs there, which the log says.
func TestALoopbackProxyIsWarnedOf(t *testing.T) {
	for address, warned := range map[string]bool{"127.0.0.1": true, "127.0.0.0/16": true, "::1": true, "0.0.0.0/0": true,
		"10.0.0.0/8": false, "2001:db8::1": false} {
		prefixes, err := access.ParsePrefixes([]string{address})
		require.NoError(t, err)
		var logged bytes.Buffer
		warnOfLoopback(&app.App{Log: slog.New(slog.NewTextHandler(&logged, nil))}, prefixes)
		require.Equal(t, warned, logged.Len() > 0, address)
	}
}
