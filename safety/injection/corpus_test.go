package injection

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
)

// TestOrdinaryMailHasNoIndicators counts the indicators in real mail: at most one message in fifty may wait for them.
func TestOrdinaryMailHasNoIndicators(t *testing.T) {
	mails := corpus(t)
	require.NotEmpty(t, mails)
	waits, checks := 0, map[Kind]int{}
	for name, msg := range mails {
		found := Indicators(t.Context(), msg)
		for _, i := range found {
			checks[i.Kind]++
			t.Log(name, i.Reason)
		}
		if len(found) > 0 {
			waits++
		}
	}
	t.Logf("%d of %d messages wait: %v", waits, len(mails), checks)
	require.LessOrEqual(t, waits*50, len(mails))
}

// TestHonestMailIsNotHeld counts all reasons to ask, together, in honest mail: that of the product's sample, mails
// that other programs have read wrongly, and ham. At most one in a hundred may wait.
func TestHonestMailIsNotHeld(t *testing.T) {
	mails := map[string]*postroom.Message{}
	folders := []string{"../../gmail/gmailtest/sample/messages", "testdata/ordinary"}
	ham := corpora.Path("05-spam-news/spamassassin-t/nice")
	if _, err := os.Stat(ham); err == nil {
		folders = append(folders, ham)
	} else {
		t.Log("HAM IS NOT COUNTED: " + ham + " is not there")
	}
	for _, folder := range folders {
		readMails(t, folder, mails)
	}
	const least = 150
	require.Greater(t, len(mails), least)
	waits, checks := 0, map[Kind]int{}
	for name, msg := range mails {
		found := Indicators(t.Context(), msg)
		for _, i := range found {
			checks[i.Kind]++
			t.Log(name, i.Reason)
		}
		if len(found) > 0 {
			waits++
		}
	}
	t.Logf("%d of %d messages wait: %v", waits, len(mails), checks)
	require.LessOrEqual(t, waits*100, len(mails))
}

// readMails reads the honest mails in a folder.
func readMails(t *testing.T, folder string, to map[string]*postroom.Message) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name()[0] == '.' {
			return err
		}
		for _, dishonest := range []string{"injection-", "spoof-", "spam-"} {
			if strings.HasPrefix(e.Name(), dishonest) {
				return nil
			}
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if m, err := mime.ParseBytes(raw, nil); err == nil {
			to[path] = readmail.Message(m)
		}
		return nil
	}))
}

// corpus reads real mail: samples of programs that read mail, ham, and the clean mails of a collection of attacks.
func corpus(t *testing.T) map[string]*postroom.Message {
	if _, err := os.Stat(corpora.Path()); err != nil {
		t.Skip("real mail is not tested: " + corpora.Path() + " is not there")
	}
	mails := map[string]*postroom.Message{}
	for _, folder := range []string{"01-mime-parse", "05-spam-news/spamassassin-t/nice"} {
		require.NoError(t, filepath.WalkDir(corpora.Path(folder),
			func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || strings.HasSuffix(path, "json") || strings.HasSuffix(path, "jsonl") {
					return err
				}
				raw, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if m, err := mime.ParseBytes(raw, nil); err == nil {
					mails[path] = readmail.Message(m)
				}
				return nil
			}))
	}
	file, err := os.Open(corpora.Path("04-prompt-injection", "bipia_clean_emails.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var mail struct{ ID, Subject, Frm, Body string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &mail))
		mails[mail.ID] = &postroom.Message{Subject: mail.Subject, BodyPlain: mail.Body,
			From: postroom.Address{Email: mail.Frm}}
	}
	return mails
}
