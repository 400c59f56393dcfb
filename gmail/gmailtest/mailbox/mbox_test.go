package mailbox_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

func readMbox(t *testing.T, content string) []mailbox.Message {
	t.Helper()
	source, err := mailbox.OpenMbox(write(t, filepath.Join(t.TempDir(), "box"), content))
	require.NoError(t, err)
	messages, err := all(t, source)
	require.NoError(t, err)
	return messages
}

const (
	fromA = "From ann@example.com Mon Jan  5 10:00:00 2026\n"
	fromB = "From ben@example.com Tue Jan  6 11:30:00 2026\n"
)

func TestMboxSplitting(t *testing.T) {
	for name, test := range map[string]struct {
		mbox string
		want []string
	}{
		"two messages":          {fromA + "Subject: a\n\nhi\n\n" + fromB + "Subject: b\n\nho\n\n", []string{"Subject: a\n\nhi\n", "Subject: b\n\nho\n"}},
		"CRLF":                  {strings.ReplaceAll(fromA+"Subject: a\n\nhi\n\n"+fromB+"Subject: b\n\nho\n\n", "\n", "\r\n"), []string{"Subject: a\r\n\r\nhi\r\n", "Subject: b\r\n\r\nho\r\n"}},
		"no final line end":     {fromA + "Subject: a\n\nhi", []string{"Subject: a\n\nhi"}},
		"only a From line":      {fromA, []string{""}},
		"blank lines before":    {"\n\n" + fromA + "Subject: a\n\n", []string{"Subject: a\n"}},
		"byte order mark":       {"\xEF\xBB\xBF" + fromA + "Subject: a\n\n", []string{"Subject: a\n"}},
		"mboxo quoting":         {fromA + "\n>From here on\n", []string{"\nFrom here on\n"}},
		"mboxrd quoting":        {fromA + "\n>>From here on\n>>>From x\n> From y\n", []string{"\n>From here on\n>>From x\n> From y\n"}},
		"unquoted in a letter":  {fromA + "Subject: a\n\nFrom here on, all is well.\nYours\n", []string{"Subject: a\n\nFrom here on, all is well.\nYours\n"}},
		"no blank line between": {fromA + "Subject: a\n\nhi\n" + fromB + "Subject: b\n\n", []string{"Subject: a\n\nhi\n", "Subject: b\n"}},
		"separator without date": {"From ann\nSubject: a\n\nhi\n\nFrom ben\nSubject: b\n\n",
			[]string{"Subject: a\n\nhi\n", "Subject: b\n"}},
		"message without header": {fromA + "Subject: a\n\nhi\n\n" + fromB + "no header here\n", []string{"Subject: a\n\nhi\n", "no header here\n"}},
		"wrong Content-Length": {fromA + "Content-Length: 4000\n\nhi\n\n" + fromB + "Subject: b\n\n",
			[]string{"Content-Length: 4000\n\nhi\n", "Subject: b\n"}},
		"two blank lines at the end": {fromA + "Subject: a\n\nhi\n\n\n" + fromB + "Subject: b\n\n", []string{"Subject: a\n\nhi\n\n", "Subject: b\n"}},
		"a date alone":               {fromA + "Subject: a\n\nhi\nFrom ben Tue Jan  6 11:30:00 2026\nand so on\n", []string{"Subject: a\n\nhi\nFrom ben Tue Jan  6 11:30:00 2026\nand so on\n"}},
		"a field alone":              {fromA + "Subject: a\n\nhi\nFrom ben\nSubject: b\n", []string{"Subject: a\n\nhi\nFrom ben\nSubject: b\n"}},
		"eight bit and NUL":          {fromA + "Subject: \xe9\x00\n\n\xff\xfe\n\n", []string{"Subject: \xe9\x00\n\n\xff\xfe\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, msg := range readMbox(t, test.mbox) {
				got = append(got, string(msg.Raw))
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestMboxLinesLongerThanTheBuffer(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	messages := readMbox(t, fromA+"Subject: a\n\n"+long+"\nFrom me to you\n\n"+fromB+"Subject: b\n\n"+long)
	require.Len(t, messages, 2)
	require.Equal(t, "Subject: a\n\n"+long+"\nFrom me to you\n", string(messages[0].Raw))
	require.Equal(t, "Subject: b\n\n"+long, string(messages[1].Raw))
}

// Only at the beginning of a line is a From line one, wherever the buffer ends.
func TestMboxFromWithinALine(t *testing.T) {
	body := "Subject: a\n\n" + strings.Repeat("x", 64<<10) + fromB + "Subject: b\n\n" +
		strings.Repeat("x", 64<<10) + ">From me\n"
	messages := readMbox(t, fromA+body)
	require.Len(t, messages, 1)
	require.Equal(t, body, string(messages[0].Raw))
}

// What stands behind a gzip file, such as the zeros that fill up a tape, is nothing.
func TestGzipIsFilledUp(t *testing.T) {
	packed := gzipped(t, fromA+"Subject: a\n\nhi\n\n")
	messages := readMbox(t, packed+strings.Repeat("\x00", 1000))
	require.Len(t, messages, 1)
	require.Equal(t, "Subject: a\n\nhi\n", string(messages[0].Raw))
}

func TestMboxReceived(t *testing.T) {
	const date = "Date: Mon, 05 Jan 2026 08:00:00 +0000\n\n"
	for name, test := range map[string]struct{ mbox, want string }{
		"asctime":             {"From a Mon Jan  5 10:00:00 2026\n" + date, "2026-01-05T10:00:00Z"},
		"Takeout":             {"From 1783bb273d3ca8ed@xxx Mon Jan 05 10:00:00 +0000 2026\n" + date, "2026-01-05T10:00:00Z"},
		"zone after the year": {"From a Mon Jan  5 10:00:00 2026 +0200\n" + date, "2026-01-05T08:00:00Z"},
		"without seconds":     {"From a Mon Jan  5 10:00 2026\n" + date, "2026-01-05T10:00:00Z"},
		"date of RFC 5322":    {"From a Mon, 5 Jan 2026 10:00:00 +0100\n" + date, "2026-01-05T09:00:00Z"},
		"Thunderbird":         {"From - Mon Jan  5 10:00:00 2026\n" + date, "2026-01-05T10:00:00Z"},
		"Date field":          {"From nobody\n" + date, "2026-01-05T08:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			messages := readMbox(t, test.mbox)
			require.Len(t, messages, 1)
			require.Equal(t, test.want, messages[0].Received.Format(timeLayout))
		})
	}
	require.False(t, readMbox(t, "From nobody\nDate: soon\n\n")[0].Received.IsZero(), "the file's own time stands in")
}

func TestTakeout(t *testing.T) {
	messages := readMbox(t, "From 1@xxx Mon Jan 05 10:00:00 +0000 2026\n"+
		"X-GM-THRID: 1853456789012345678\n"+
		"X-Gmail-Labels: =?UTF-8?Q?Inbox,Opened,\"Rechnungen,_bezahlt\",B=C3=BCro?=,\n =?UTF-8?Q?Category_Updates?=\n\nhi\n\n"+
		"From 2@xxx Mon Jan 05 11:00:00 +0000 2026\nX-Gmail-Labels:\n\n"+
		"From 3@xxx Mon Jan 05 12:00:00 +0000 2026\nStatus: RO\nX-Status: AF\n\n")
	require.Equal(t, []string{"Inbox", "Opened", "Rechnungen, bezahlt", "Büro", "Category Updates"}, messages[0].Labels)
	require.Equal(t, "1853456789012345678", messages[0].ThreadID)
	require.True(t, messages[1].Labeled)
	require.Empty(t, messages[1].Labels)
	require.False(t, messages[2].Labeled)
	require.Equal(t, mailbox.Flags{Seen: true, Answered: true, Flagged: true}, messages[2].Flags)
	require.Equal(t, mailbox.Flags{Draft: true, Trashed: true}, readMbox(t, fromA+"X-Status: TD\n\n")[0].Flags)
}

func TestGzipCutShortKeepsWhatCameBefore(t *testing.T) {
	var content strings.Builder
	for i := range 200 {
		fmt.Fprintf(&content, "%sSubject: %d\n\n%x\n\n", fromA, i, bytes.Repeat([]byte{byte(i * 7), byte(i * 31)}, 400))
	}
	packed := gzipped(t, content.String())
	source, err := mailbox.OpenMbox(write(t, filepath.Join(t.TempDir(), "cut.mbox.gz"), packed[:len(packed)*2/3]))
	require.NoError(t, err)
	messages, err := all(t, source)
	require.ErrorIs(t, err, mailbox.ErrCutShort)
	require.ErrorContains(t, err, fmt.Sprintf("after message %d", len(messages)))
	require.NotEmpty(t, messages)
	require.Less(t, len(messages), 200)

	source, err = mailbox.OpenMbox(write(t, filepath.Join(t.TempDir(), "whole"), packed))
	require.NoError(t, err)
	messages, err = all(t, source)
	require.NoError(t, err)
	require.Len(t, messages, 200)
}

func TestMboxStreams(t *testing.T) {
	const count, size = 10_000, 4_000
	path := filepath.Join(t.TempDir(), "large.mbox.gz")
	writeLarge(t, path, count, size)

	source, err := mailbox.OpenMbox(path)
	require.NoError(t, err)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	read := 0
	for msg, err := range source.Messages() {
		require.NoError(t, err)
		require.Greater(t, len(msg.Raw), size)
		if read++; read%2500 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			held := int64(now.HeapAlloc) - int64(before.HeapAlloc)
			require.Less(t, held, int64(4<<20), "40 MB of mail go by")
		}
	}
	require.Equal(t, count, read)
}

func writeLarge(t *testing.T, path string, count, size int) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	packed, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	require.NoError(t, err)
	out := bufio.NewWriter(packed)
	body := strings.Repeat("A line of a letter that says nothing much.\n", size/43+1)
	for i := range count {
		_, err := fmt.Fprintf(out, "%sMessage-ID: <%d@example.com>\nSubject: %d\n\n%s\n", fromA, i, i, body)
		require.NoError(t, err)
	}
	require.NoError(t, out.Flush())
	require.NoError(t, packed.Close())
	require.NoError(t, file.Close())
}

func TestIterationCanStop(t *testing.T) {
	source, err := mailbox.OpenMbox(write(t, filepath.Join(t.TempDir(), "box"), fromA+"Subject: a\n\n"+fromB+
		"Subject: b\n\n"))
	require.NoError(t, err)
	for msg, err := range source.Messages() {
		require.NoError(t, err)
		require.Equal(t, 1, msg.Position)
		break
	}
	messages, err := all(t, source)
	require.NoError(t, err)
	require.Len(t, messages, 2, "a second reading begins anew")
}
