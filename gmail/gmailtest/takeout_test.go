package gmailtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// Google writes the labels of an export in the language of the account.
func TestTakeoutInOtherLanguages(t *testing.T) {
	for labels, want := range map[string][]string{
		"Posteingang,Ungelesen,Steuer":             {"INBOX", "Steuer", "UNREAD"},
		"=?UTF-8?Q?Messages_envoy=C3=A9s,Ouvert?=": {"SENT"},
		"Corbeille": {"TRASH"},
		"=?UTF-8?Q?Bo=C3=AEte_de_r=C3=A9ception,Non_lus?=": {"INBOX", "UNREAD"},
		"Papelera,Abierto": {"TRASH"},
		"=?UTF-8?B?0JLRhdC+0LTRj9GJ0LjQtSzQntGC0LrRgNGL0YLRi9C1?=": {"INBOX"},
	} {
		t.Run(labels, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "Mail.mbox")
			text := "From 1@xxx Thu Jan  1 00:00:00 +0000 2026\nX-GM-THRID: 1\nX-Gmail-Labels: " + labels +
				"\nSubject: x\nFrom: a@example.com\n\nhello\n"
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			source, err := mailbox.OpenMbox(path)
			require.NoError(t, err)
			server := gmailtest.NewServer(t)
			_, err = server.Import(t.Context(), source, nil)
			require.NoError(t, err)
			messages, err := server.Snapshot(t.Context())
			require.NoError(t, err)
			require.Len(t, messages, 1)
			require.Equal(t, want, messages[0].Labels)
		})
	}
}
