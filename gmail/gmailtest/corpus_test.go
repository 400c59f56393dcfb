package gmailtest_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// corpora is a collection of real messages that lies beside the repository on some machines.
const corpora = "../../../shared/corpora"

// Whatever people have received can be served, in every format.
func TestRealMessages(t *testing.T) {
	if _, err := os.Stat(corpora); err != nil {
		t.Skipf("SKIPPED: no real messages to test with: %v", err)
	}
	source := &box{name: "corpora"}
	for _, folder := range []string{"01-mime-parse", "05-spam-news"} {
		err := filepath.WalkDir(filepath.Join(corpora, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			source.messages = append(source.messages, mailbox.Message{Raw: raw, Received: noon})
			return err
		})
		require.NoError(t, err)
	}
	require.NotEmpty(t, source.messages)
	server, users := serve(t, source)
	stored := snapshot(t, server)
	require.Len(t, stored, len(source.messages))
	for _, m := range stored {
		raw, err := users.Messages.Get("me", m.ID).Format("raw").Do()
		require.NoError(t, err)
		text, err := base64.URLEncoding.DecodeString(raw.Raw)
		require.NoError(t, err)
		require.Equal(t, string(source.messages[m.Position-1].Raw), string(text))
		full, err := users.Messages.Get("me", m.ID).Do()
		require.NoError(t, err)
		require.NotEmpty(t, full.Payload.MimeType)
	}
}
