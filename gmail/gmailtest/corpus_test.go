package gmailtest_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/internal/corpora"
)

// Whatever people have received can be served, in every format: the samples of odd messages, and real ones where
// there are any.
func TestOddMessages(t *testing.T) {
	folders := []string{"../../mime/testdata/parse", "../../mime/testdata/facts"}
	if _, err := os.Stat(corpora.Path()); err == nil {
		folders = append(folders, corpora.Path("01-mime-parse"), corpora.Path("05-spam-news"))
	} else {
		t.Logf("tested with the samples alone, and not with real messages: %v", err)
	}
	source := &box{name: "corpora"}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) == ".json" {
				return err
			}
			raw, err := os.ReadFile(path)
			source.messages = append(source.messages, mailbox.Message{Raw: raw, Received: noon})
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, len(source.messages), 50)
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
