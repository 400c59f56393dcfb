package mailbox_test

import (
	"bytes"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

type made []mailbox.Message

func (made) Name() string { return "made" }

func (m made) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		for _, msg := range m {
			if !yield(msg, nil) {
				return
			}
		}
	}
}

// What is written comes back, whatever it looks like.
func TestWriteMboxRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "box")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := rapid.SampledFrom([]string{
		"", "\r", "text", "From ann@example.com Mon Jan  5 10:00:00 2026", "From here", ">From there", ">>From", "From: x",
		"Subject: From me", "\x00\xff", strings.Repeat("long ", 20_000) + "From x",
	})
	rapid.Check(t, func(t *rapid.T) {
		var messages made
		for range rapid.IntRange(1, 5).Draw(t, "count") {
			lines := rapid.SliceOfN(line, 0, 8).Draw(t, "lines")
			raw := strings.Join(lines, "\n")
			if raw != "" {
				raw += "\n"
			}
			received := start.Add(time.Duration(rapid.IntRange(0, 1<<24).Draw(t, "second")) * time.Second)
			messages = append(messages, mailbox.Message{Raw: []byte(raw), Received: received})
		}
		var file bytes.Buffer
		require.NoError(t, mailbox.WriteMbox(&file, messages))
		require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
		source, err := mailbox.OpenMbox(path)
		require.NoError(t, err)
		read := 0
		for msg, err := range source.Messages() {
			require.NoError(t, err)
			require.Less(t, read, len(messages))
			require.Equal(t, string(messages[read].Raw), string(msg.Raw))
			require.Equal(t, messages[read].Received, msg.Received)
			read++
		}
		require.Equal(t, len(messages), read)
	})
}

func TestWriteMboxPassesProblemsOver(t *testing.T) {
	var file bytes.Buffer
	require.NoError(t, mailbox.WriteMbox(&file, made{{Problem: "too large"}, {Raw: []byte("Subject: x")}}))
	require.Equal(t, "From MAILER-DAEMON Mon Jan  1 00:00:00 0001\nSubject: x\n\n", file.String())
	require.ErrorContains(t, mailbox.WriteMbox(full{}, made{{Raw: []byte("Subject: x")}}), "disk full")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }
