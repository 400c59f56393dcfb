package mailbox_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// all reads a source to its end.
func all(t *testing.T, source mailbox.Source) ([]mailbox.Message, error) {
	t.Helper()
	var messages []mailbox.Message
	for msg, err := range source.Messages() {
		if err != nil {
			return messages, err
		}
		messages = append(messages, msg)
		require.Equal(t, len(messages), msg.Position)
	}
	return messages, nil
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func gzipped(t *testing.T, content string) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return packed.String()
}

func TestOpenErrorsSayWhatWasFound(t *testing.T) {
	dir := t.TempDir()
	mbox := write(t, filepath.Join(dir, "good.mbox"), "From a@example.com Mon Jan  5 10:00:00 2026\nSubject: x\n\nbody\n")
	packed := gzipped(t, strings.Repeat("words that are long enough to be cut\n", 100))
	tar := strings.Repeat("x", 257) + "ustar" + strings.Repeat("\x00", 300)
	empty := filepath.Join(dir, "emptydir")
	require.NoError(t, os.Mkdir(empty, 0o750))
	file := func(name, content string) string { return write(t, filepath.Join(dir, name), content) }

	for name, test := range map[string]struct {
		open func(string) (mailbox.Source, error)
		path string
		want string
		is   error
	}{
		"mbox: missing":          {mailbox.OpenMbox, filepath.Join(dir, "no"), "does not exist", os.ErrNotExist},
		"mbox: a folder":         {mailbox.OpenMbox, empty, "is a folder; an mbox is a file", mailbox.ErrNotMailbox},
		"mbox: empty":            {mailbox.OpenMbox, file("empty", ""), "is empty", mailbox.ErrNotMailbox},
		"mbox: blank":            {mailbox.OpenMbox, file("blank", "\n\r\n\n"), "is empty", mailbox.ErrNotMailbox},
		"mbox: a PDF":            {mailbox.OpenMbox, file("pdf", "%PDF-1.7\n"), "is a PDF", mailbox.ErrNotMailbox},
		"mbox: Takeout's ZIP":    {mailbox.OpenMbox, file("zip", "PK\x03\x04..."), "unpack it first", mailbox.ErrNotMailbox},
		"mbox: a letter":         {mailbox.OpenMbox, file("letter", "Dear Ann,\n"), `begins with "Dear Ann,"; an mbox begins with 'From '`, mailbox.ErrNotMailbox},
		"mbox: one message":      {mailbox.OpenMbox, file("one", "Subject: x\n\nhi\n"), "single message", mailbox.ErrNotMailbox},
		"mbox: tar in gzip":      {mailbox.OpenMbox, file("tgz", gzipped(t, tar)), "is a tar archive", mailbox.ErrNotMailbox},
		"mbox: gzip of nothing":  {mailbox.OpenMbox, file("gz0", gzipped(t, "")), "is empty", mailbox.ErrNotMailbox},
		"mbox: gzip magic alone": {mailbox.OpenMbox, file("gz1", "\x1f\x8b!!"), "begins like a gzip file", mailbox.ErrNotMailbox},
		"mbox: gzip cut at once": {mailbox.OpenMbox, file("gz2", packed[:12]), "cut short before its first message", mailbox.ErrCutShort},
		"maildir: missing":       {mailbox.OpenMaildir, filepath.Join(dir, "no"), "does not exist", os.ErrNotExist},
		"maildir: a file":        {mailbox.OpenMaildir, mbox, "is a file and not a folder", mailbox.ErrNotMailbox},
		"maildir: no cur or new": {mailbox.OpenMaildir, empty, "neither a folder cur nor a folder new", mailbox.ErrNotMailbox},
		"eml: missing":           {mailbox.OpenEML, filepath.Join(dir, "no"), "does not exist", os.ErrNotExist},
		"eml: a file":            {mailbox.OpenEML, mbox, "is a file and not a folder", mailbox.ErrNotMailbox},
		"eml: none":              {mailbox.OpenEML, empty, "has no .eml files", mailbox.ErrNotMailbox},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.open(test.path)
			require.ErrorContains(t, err, test.want)
			require.ErrorIs(t, err, test.is)
			var open *mailbox.OpenError
			require.ErrorAs(t, err, &open)
			require.Equal(t, test.path, open.Path)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestMaildir(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cur", "1767607200.a.host:2,FS"), "Subject: first\n\n1\n")
	write(t, filepath.Join(dir, "new", "1767610800.b.host"), "Subject: second\n\n2\n")
	write(t, filepath.Join(dir, "cur", "odd-name!2,RTD"), "Subject: third\nDate: Mon, 05 Jan 2026 12:00:00 +0100\n\n3\n")
	write(t, filepath.Join(dir, "cur", ".hidden"), "no message")
	write(t, filepath.Join(dir, "tmp", "1.unfinished"), "no message")
	write(t, filepath.Join(dir, ".Sent", "cur", "1.other"), "another mailbox")

	source, err := mailbox.OpenMaildir(dir)
	require.NoError(t, err)
	messages, err := all(t, source)
	require.NoError(t, err)
	require.Len(t, messages, 3)

	require.Equal(t, "1767607200.a.host", messages[0].Name)
	require.Equal(t, mailbox.Flags{Seen: true, Flagged: true}, messages[0].Flags)
	require.Equal(t, "2026-01-05T10:00:00Z", messages[0].Received.Format(timeLayout))
	require.Equal(t, mailbox.Flags{}, messages[1].Flags)
	require.Equal(t, mailbox.Flags{Answered: true, Trashed: true, Draft: true}, messages[2].Flags)
	require.Equal(t, "2026-01-05T11:00:00Z", messages[2].Received.Format(timeLayout))
	require.Equal(t, "Subject: third\nDate: Mon, 05 Jan 2026 12:00:00 +0100\n\n3\n", string(messages[2].Raw))
}

func TestMaildirNames(t *testing.T) {
	seen := mailbox.Flags{Seen: true}
	for file, want := range map[string]struct {
		flags    mailbox.Flags
		received int64
	}{
		"1767607200.a:2,S": {seen, 1767607200}, "1767607200.a;2,S": {seen, 1767607200}, "1767607200.a!2,S": {seen, 1767607200}, "1767607200.a-2,S": {seen, 1767607200},
		"1767607200.a2,S": {mailbox.Flags{}, 1767607200}, "2,S": {mailbox.Flags{}, 0}, "-5.a:2,S": {seen, 0}, "0.a:2,": {mailbox.Flags{}, 0}, "99999999999.a": {mailbox.Flags{}, 0},
		"1767607200.a:2,DFRST": {mailbox.Flags{Seen: true, Answered: true, Flagged: true, Draft: true, Trashed: true}, 1767607200},
	} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "cur"), 0o700))
		written := time.Unix(1_500_000_000, 0)
		require.NoError(t, os.Chtimes(write(t, filepath.Join(dir, "cur", file), "Subject: a\n\n"), written, written))
		source, err := mailbox.OpenMaildir(dir)
		require.NoError(t, err)
		messages, err := all(t, source)
		require.NoError(t, err)
		require.Equal(t, want.flags, messages[0].Flags, file)
		if want.received == 0 {
			want.received = written.Unix() // the file's own time stands in
		}
		require.Equal(t, want.received, messages[0].Received.Unix(), file)
	}
}

func TestMaildirKeepsPlacesWhenFlagsChange(t *testing.T) {
	dir := t.TempDir()
	unread := write(t, filepath.Join(dir, "new", "1.a"), "Subject: a\n\n")
	write(t, filepath.Join(dir, "cur", "2.b:2,"), "Subject: b\n\n")
	names := func() []string {
		source, err := mailbox.OpenMaildir(dir)
		require.NoError(t, err)
		messages, err := all(t, source)
		require.NoError(t, err)
		return []string{messages[0].Name, messages[1].Name}
	}
	before := names()
	require.NoError(t, os.Rename(unread, filepath.Join(dir, "cur", "1.a:2,S")))
	require.Equal(t, before, names())
}

func TestEML(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b.eml"), "Subject: b\r\n\r\nkept as it is\r\n")
	write(t, filepath.Join(dir, "a", "deep.EML"), "X-Gmail-Labels: Inbox\n\n")
	write(t, filepath.Join(dir, "notes.txt"), "no message")
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "c.eml")))

	// The folder may be named by a link.
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	source, err := mailbox.OpenEML(link)
	require.NoError(t, err)
	require.Equal(t, "eml:"+link, source.Name())

	messages, err := all(t, source)
	require.NoError(t, err)
	require.Len(t, messages, 3)
	require.Equal(t, "a/deep.EML", messages[0].Name)
	require.Equal(t, []string{"Inbox"}, messages[0].Labels)
	require.Equal(t, "Subject: b\r\n\r\nkept as it is\r\n", string(messages[1].Raw))
	require.False(t, messages[1].Received.IsZero(), "the file's own time stands in")
	require.False(t, messages[1].Labeled)
	require.Contains(t, messages[2].Problem, "cannot be read")
	require.Empty(t, messages[2].Raw)
}

func TestOversizeMessageIsReportedNotLost(t *testing.T) {
	dir := t.TempDir()
	big := "Subject: big\n\n" + strings.Repeat(strings.Repeat("x", 999)+"\n", mailbox.MaxMessage/1000+1)
	write(t, filepath.Join(dir, "big.eml"), big)
	mbox := write(t, filepath.Join(dir, "big.mbox"),
		"From a Mon Jan  5 10:00:00 2026\n"+big+"\nFrom b Mon Jan  5 11:00:00 2026\nSubject: next\n\n")

	for name, open := range map[string]func() (mailbox.Source, error){
		"eml":  func() (mailbox.Source, error) { return mailbox.OpenEML(dir) },
		"mbox": func() (mailbox.Source, error) { return mailbox.OpenMbox(mbox) },
	} {
		t.Run(name, func(t *testing.T) {
			source, err := open()
			require.NoError(t, err)
			messages, err := all(t, source)
			require.NoError(t, err)
			require.Contains(t, messages[0].Problem, "36700160")
			require.Equal(t, big[:mailbox.OversizeKept], string(messages[0].Raw))
			for _, msg := range messages[1:] {
				require.Empty(t, msg.Problem)
				require.Equal(t, "Subject: next\n", string(msg.Raw))
			}
		})
	}
}

const timeLayout = "2006-01-02T15:04:05Z07:00"
