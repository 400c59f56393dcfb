package mailbox

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// The reader takes any bytes: it comes to an end, loses no body line, and never makes messages out of nothing.
func FuzzMbox(f *testing.F) {
	f.Add([]byte("From a Mon Jan  5 10:00:00 2026\nSubject: a\n\n>From x\n\nFrom b Mon Jan  5 10:00:00 2026\n\n"))
	f.Add([]byte("From a\r\nX: y\r\n\r\nFrom \r\n\r\nFrom b\r\nX: y"))
	f.Add([]byte("\n\nFrom "))
	f.Add([]byte("no mailbox"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newSplitter(bytes.NewReader(data))
		instead, err := s.start()
		if instead != nil || err != nil {
			return
		}
		lines, messages := 0, 0
		for {
			from, raw, size, err := s.next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(from, fromPrefix))
			require.Equal(t, int64(len(raw)), size)
			messages++
			lines += 1 + bytes.Count(raw, []byte("\n"))
			msg := Message{Position: messages, Raw: raw, Received: fromLineDate(from)}
			msg.describe()
		}
		require.Positive(t, messages)
		total := bytes.Count(data, []byte("\n"))
		require.LessOrEqual(t, lines, total+1)
		require.GreaterOrEqual(t, lines+messages, bytes.Count(bytes.TrimLeft(data, "\r\n\t \v\f\u0085\u00a0"), []byte("\n")))
	})
}
