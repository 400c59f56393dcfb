package cmdline

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Only a line is an answer: neither the end of the input is one, nor the end of the time.
func TestAsk(t *testing.T) {
	for typed, want := range map[string]struct{ yes, answered bool }{
		"y\n": {true, true}, "YES\n": {true, true}, "n\n": {false, true}, "\n": {false, true}, "": {false, false},
	} {
		var out bytes.Buffer
		yes, answered, err := Ask(t.Context(), bufio.NewReader(strings.NewReader(typed)), &out, "Do it?", time.Minute)
		require.NoError(t, err)
		require.Equal(t, want, struct{ yes, answered bool }{yes, answered}, "%q", typed)
		require.Equal(t, "Do it? [y/N] ", out.String())
	}
}

func TestAskWaitsForSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keyboard := io.Pipe()
		defer keyboard.Close()
		began := time.Now()
		yes, answered, err := Ask(t.Context(), bufio.NewReader(in), io.Discard, "Do it?", time.Minute)
		require.NoError(t, err)
		require.False(t, yes || answered, "nobody was there")
		require.Equal(t, time.Minute, time.Since(began))

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		again, second := io.Pipe()
		defer second.Close()
		_, _, err = Ask(ctx, bufio.NewReader(again), io.Discard, "Do it?", time.Minute)
		require.ErrorIs(t, err, context.Canceled)
	})
}
