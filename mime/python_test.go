package mime_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/mime"
)

// A pythonMail is what Python's email package says about a message.
type pythonMail struct {
	Subject     string      `json:"subject"`
	Date        int64       `json:"date"`
	From        [][3]string `json:"from"` // name, address, group
	Sender      [][3]string `json:"sender"`
	ReplyTo     [][3]string `json:"reply-to"`
	To          [][3]string `json:"to"`
	Cc          [][3]string `json:"cc"`
	Bcc         [][3]string `json:"bcc"`
	MessageID   string      `json:"message_id"`
	References  []string    `json:"references"`
	Plain       string      `json:"plain"`
	HTML        string      `json:"html"`
	Types       []string    `json:"types"`
	Attachments [][3]string `json:"attachments"` // name, type, hash
	Defects     []string    `json:"defects"`
}

// python starts a reader; it is skipped where there is no Python, but not in CI.
func python(t *testing.T) func(raw []byte) pythonMail {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("NOT TESTED WITH PYTHON: %v", err)
		}
		t.Skipf("NOT TESTED WITH PYTHON: %v", err)
	}
	cmd := exec.Command(path, "testdata/python/read.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // ends it
		_ = cmd.Wait() // a failure has been seen where its answer was missing
	})
	answers := bufio.NewReader(out)
	return func(raw []byte) (m pythonMail) {
		_, err := io.WriteString(in, base64.StdEncoding.EncodeToString(raw)+"\n")
		require.NoError(t, err)
		answer, err := answers.ReadBytes('\n')
		require.NoError(t, err, "%s", raw)
		require.NoError(t, json.Unmarshal(answer, &m))
		return m
	}
}

// Python reads what is built, of every kind, without a defect, and as it was.
func TestPythonReadsKinds(t *testing.T) {
	read := python(t)
	for name, o := range kinds {
		if o.SMTPUTF8 {
			continue // which its parser of bytes does not take
		}
		raw, err := o.Build()
		require.NoError(t, err)
		m := read(raw)
		require.Empty(t, m.Defects, name)
		requirePython(t, &o, m)
	}
	types := func(name string) []string {
		o := kinds[name]
		raw, err := o.Build()
		require.NoError(t, err)
		return read(raw).Types
	}
	require.Equal(t, []string{"multipart/alternative", "text/plain", "text/html", "text/calendar"}, types("invitation"))
	require.Equal(t, []string{"multipart/report", "text/plain", "message/delivery-status"}, types("bounce")[:3])
	require.Contains(t, types("receipt"), "message/disposition-notification")
}

// Python reads whatever is built as it was.
func TestPythonReadsWhatIsBuilt(t *testing.T) {
	read := python(t)
	rapid.Check(t, func(rt *rapid.T) {
		o := drawForPython(rt)
		raw, err := o.Build()
		require.NoError(rt, err)
		m := read(raw)
		require.Empty(rt, m.Defects, "%s", raw)
		requirePython(rt, o, m)
	})
}

func requirePython(t require.TestingT, o *mime.Outgoing, m pythonMail) {
	require.Equal(t, o.Subject, m.Subject)
	require.Equal(t, max(0, o.Date.Unix()), m.Date)
	requirePeople(t, o.From, m.From)
	requirePeople(t, o.ReplyTo, m.ReplyTo)
	requirePeople(t, o.To, m.To)
	requirePeople(t, o.Cc, m.Cc)
	requirePeople(t, o.Bcc, m.Bcc)
	require.Equal(t, strings.Trim(o.MessageID, "<>"), strings.Trim(m.MessageID, "<>"))
	require.Len(t, m.References, len(o.References))
	lines := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	require.Equal(t, lines(o.Text), lines(m.Plain))
	require.Equal(t, lines(o.HTML), lines(m.HTML))
	var files [][3]string
	for _, a := range o.Attachments {
		sum := sha256.Sum256(a.Content)
		contentType, _, _ := strings.Cut(a.ContentType, ";")
		if contentType == "" {
			contentType = "application/octet-stream"
		}
		files = append(files, [3]string{a.Filename, contentType, hex.EncodeToString(sum[:])})
	}
	require.ElementsMatch(t, files, m.Attachments)
}

// requirePeople compares names with their blanks. Python 3.11 adds a blank between two encoded-words, where RFC 2047,
// section 6.2, has none: behind the blank that the name has there, and within a word that is too long for one of
// them, which is compared without.
func requirePeople(t require.TestingT, list []mime.Address, got [][3]string) {
	var want [][3]string
	for _, a := range inASCII(list) {
		if a.Email != "" {
			want = append(want, [3]string{a.Name, a.Email, a.Group})
		}
	}
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i][1], got[i][1])
		for _, name := range []int{0, 2} {
			form := words
			if slices.ContainsFunc(strings.Fields(want[i][name]), func(word string) bool { return len(word) > 16 }) {
				form = func(s string) string { return strings.ReplaceAll(s, " ", "") }
			}
			require.Equal(t, form(want[i][name]), form(got[i][name]))
		}
	}
}

// A long name is cut between its words, and read rightly by Python as well.
func TestPythonReadsLongNames(t *testing.T) {
	read := python(t)
	for _, name := range []string{
		"Министерство экономического развития Российской Федерации",
		"Bundesministerium für Wirtschaft, Energie und Klimaschutz der Bundesrepublik Österreich",
	} {
		o := &mime.Outgoing{From: []mime.Address{{Name: name, Email: "ada@example.com"}},
			To: []mime.Address{{Name: name, Email: "b@example.com"}}, Subject: name, Text: "x"}
		raw, err := o.Build()
		require.NoError(t, err)
		m := read(raw)
		require.Equal(t, name, words(m.From[0][0]), "%s", raw)
		require.Equal(t, name, words(m.To[0][0]))
		require.Equal(t, name, m.Subject)
		parsed, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err)
		require.Equal(t, name, parsed.From[0].Name)
	}
}

// drawForPython draws messages without what Python reads in its own way: control characters, which end lines there,
// ids that RFC 5322 does not allow, addresses in quotes, and file names with quotes or brackets, which it takes off
// twice.
func drawForPython(t *rapid.T) *mime.Outgoing {
	printable := rapid.StringOfN(rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.S, blank), 0, 120, -1)
	line := rapid.Custom(func(t *rapid.T) string { return words(printable.Draw(t, "line")) })
	filename := rapid.Custom(func(t *rapid.T) string {
		return words(strings.NewReplacer(`"`, "", `\`, "", "<", "", ">", "").Replace(line.Draw(t, "name")))
	})
	address := func(t *rapid.T) mime.Address {
		return mime.Address{
			Name: line.Draw(t, "name"), Group: rapid.SampledFrom([]string{"", "", "Friends", "Fr\u00fchaufsteher, alle"}).Draw(
				t, "group"),
			Email: rapid.StringMatching(`[a-z0-9!#$%&'*+/=?^_{|}~-]{1,20}@[a-z0-9-]{1,20}\.example`).Draw(t, "email"),
		}
	}
	id := rapid.StringMatching(`[a-z0-9+_-]{1,60}@[a-z0-9]{1,40}\.example`)
	body := rapid.StringOf(rapid.RuneFrom([]rune{'\n'}, unicode.L, unicode.N, unicode.P, unicode.S, blank))
	o := &mime.Outgoing{
		From: []mime.Address{{Name: line.Draw(t, "from"), Email: "ada@example.com"}}, To: []mime.Address{address(t)},
		Cc: drawSlice(t, "cc", address), Bcc: drawSlice(t, "bcc", address), ReplyTo: drawSlice(t, "reply-to", address),
		Subject: line.Draw(t, "subject"), MessageID: id.Draw(t, "id"),
		Date:       time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "date"), 0),
		References: rapid.SliceOfN(id, 0, 10).Draw(t, "references"), Text: "x" + body.Draw(t, "text"),
		HTML: body.Draw(t, "html"),
	}
	o.Attachments = drawSlice(t, "attachments", func(t *rapid.T) mime.Attachment {
		return mime.Attachment{
			Filename: filename.Draw(t, "filename"), Content: rapid.SliceOf(rapid.Byte()).Draw(t, "content"),
			ContentType: rapid.SampledFrom([]string{"", "application/pdf", `text/csv; charset="iso-8859-1"`}).Draw(t, "type"),
		}
	})
	return o
}

var blank = &unicode.RangeTable{R16: []unicode.Range16{{Lo: ' ', Hi: ' ', Stride: 1}}}
