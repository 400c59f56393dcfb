package mime_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// nested is a message of multiparts, each within the one before.
func nested(depth int) string {
	var out strings.Builder
	for i := range depth {
		fmt.Fprintf(&out, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	return out.String() + "\nText.\n"
}

func TestLimits(t *testing.T) {
	many := strings.Repeat("--b\n\npart\n", 20)
	cases := map[string]struct {
		raw    string
		limits mime.Limits
		field  string
	}{
		"size":                  {"Subject: x\n\n" + strings.Repeat("x", 100), mime.Limits{Size: 100}, "Size"},
		"depth of multiparts":   {nested(10), mime.Limits{Depth: 10}, "Depth"},
		"depth of messages":     {strings.Repeat("Content-Type: message/rfc822\n\n", 10), mime.Limits{Depth: 10}, "Depth"},
		"parts":                 {"Content-Type: multipart/mixed; boundary=b\n\n" + many, mime.Limits{Parts: 20}, "Parts"},
		"header bytes":          {"X: " + strings.Repeat("x", 100) + "\n\n", mime.Limits{HeaderBytes: 100}, "HeaderBytes"},
		"header bytes, folded":  {"X: x\n" + strings.Repeat(" x\n", 50) + "\n\n", mime.Limits{HeaderBytes: 100}, "HeaderBytes"},
		"header fields":         {strings.Repeat("X: x\n", 11) + "\n", mime.Limits{HeaderFields: 10}, "HeaderFields"},
		"fields of all parts":   {"Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nX: x\n\n", 10), mime.Limits{HeaderFields: 10}, "HeaderFields"},
		"default depth":         {nested(200), mime.Limits{}, "Depth"},
		"default header fields": {strings.Repeat("X:\n", 60_000), mime.Limits{}, "HeaderFields"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := mime.Parse(strings.NewReader(c.raw), &c.limits)
			require.ErrorIs(t, err, mime.ErrLimit)
			require.Nil(t, m)
			var limit *mime.LimitError
			require.ErrorAs(t, err, &limit)
			require.Equal(t, c.field, limit.Field)
			require.Contains(t, err.Error(), fmt.Sprintf("%d: raise Limits.%s", limit.Value, c.field))
		})
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	raw := nested(9)
	m, err := mime.Parse(strings.NewReader(raw), &mime.Limits{
		Size: len(raw), Depth: 10, Parts: 10, HeaderFields: 9, HeaderBytes: strings.LastIndex(raw, "\n\n--b8") - 9*len("\n--b0\n") + 9,
	})
	require.NoError(t, err)
	require.Equal(t, "Text.\n", m.Text)
}

func TestNegativeLimit(t *testing.T) {
	_, err := mime.Parse(strings.NewReader(""), &mime.Limits{Parts: -1})
	require.EqualError(t, err, "mime: Limits.Parts is -1; use 0 for the default of 10000, or a positive number")
	require.EqualError(t, (&mime.Limits{Parts: -1}).Validate(), err.Error())
	require.NoError(t, (&mime.Limits{}).Validate())
	require.NoError(t, (*mime.Limits)(nil).Validate())
	require.NotErrorIs(t, err, mime.ErrLimit)
}

func TestReadError(t *testing.T) {
	cause := errors.New("the line is cut")
	_, err := mime.Parse(iotest.ErrReader(cause), nil)
	require.ErrorIs(t, err, cause)
}

// A message wrapped in encodings that do not make it smaller would cost its size again at each level.
func TestEncodedMessagesAreBounded(t *testing.T) {
	raw := "Subject: innermost\n\n" + strings.Repeat("x", 5_000)
	for range 20 {
		raw = "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.ReplaceAll(raw, "=", "=3D")
	}
	m, err := mime.Parse(strings.NewReader(raw), nil)
	require.NoError(t, err)
	opened := 0
	for m.Root.Message != nil {
		m = m.Root.Message
		opened++
	}
	require.Equal(t, 4, opened)
	require.Contains(t, m.Defects, mime.Defect{Kind: mime.NotOpened})
	require.NotEmpty(t, m.Root.Content)
}

// Each message holds the text of those shown within it, so that only a few are, one within the other.
func TestShownMessagesAreBounded(t *testing.T) {
	raw := "Subject: 0\n\ntext 0\n"
	for i := 1; i <= 6; i++ {
		raw = fmt.Sprintf("Subject: %d\nContent-Type: multipart/mixed; boundary=b%d\n\n--b%d\n\ntext %d\n--b%d\n"+
			"Content-Type: message/rfc822\nContent-Disposition: inline\n\n%s", i, i, i, i, i, raw)
	}
	m, err := mime.Parse(strings.NewReader(raw), nil)
	require.NoError(t, err)
	require.Equal(t, "text 6\ntext 5\ntext 4", m.Text)
	require.Len(t, m.Attachments, 1)
	require.Equal(t, "3", m.Attachments[0].Message.Subject)
	require.Equal(t, "text 3\ntext 2\ntext 1\ntext 0\n", m.Attachments[0].Message.Text)
}

func TestBase64MessagesAreOpened(t *testing.T) {
	raw := "Subject: innermost\n\nText."
	for range 10 {
		raw = "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte(raw))
	}
	m, err := mime.Parse(strings.NewReader(raw), nil)
	require.NoError(t, err)
	for m.Root.Message != nil {
		m = m.Root.Message
	}
	require.Equal(t, "innermost", m.Subject)
}

// hostile inputs make careless readers quadratic or worse; each is a function of a size.
var hostile = map[string]func(n int) string{
	"nested multiparts, each line a boundary's beginning": func(n int) string { return nested(90) + strings.Repeat("--b\n", n/4) },
	"one boundary for all": func(n int) string {
		return strings.Repeat("Content-Type: multipart/mixed; boundary=b\n\n--b\n", 90) + strings.Repeat("--c\n", n/4)
	},
	"boundaries to be guessed within each other": func(n int) string {
		var out strings.Builder
		for i := range n / 60 {
			fmt.Fprintf(&out, "Content-Type: multipart/mixed; boundary=none\n\n--x%d\n", i)
		}
		return out.String()
	},
	"messages shown in messages": func(n int) string {
		head := "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n\nx\n--b%d\nContent-Type: message/rfc822\nContent-Disposition: inline\n\n"
		var out strings.Builder
		for i := range 45 {
			fmt.Fprintf(&out, head, i, i, i)
		}
		return out.String() + "\n" + strings.Repeat("text\n", n/5)
	},
	"fields beyond ASCII":      func(n int) string { return strings.Repeat("A: \xe9\n", n/5) },
	"words without an end":     func(n int) string { return "Subject: " + strings.Repeat("=?a?q?", n/6) },
	"words that are none":      func(n int) string { return "Subject: " + strings.Repeat("=?<", n/3) + "?=" },
	"addresses of words":       func(n int) string { return "To: " + strings.Repeat("=?<", n/3) + "?=" },
	"addresses of open words":  func(n int) string { return "To: " + strings.Repeat("=?a?q? ", n/7) },
	"open quotes":              func(n int) string { return "To: " + strings.Repeat(`"a\" `, n/5) },
	"open comments":            func(n int) string { return "To: " + strings.Repeat("(a ", n/3) },
	"glued quotes":             func(n int) string { return "To: " + strings.Repeat(`""`, n/2) },
	"colons behind an address": func(n int) string { return "To: " + strings.Repeat("x ", n/4) + "a@b" + strings.Repeat(" :", n/4) },
	"open brackets":            func(n int) string { return "To: " + strings.Repeat("<", n) },
	"brackets with commas":     func(n int) string { return "To: <@" + strings.Repeat(",", n) },
	"comments in parameters":   func(n int) string { return "Content-Type: text/plain; " + strings.Repeat("(;", n/2) },
	"parameter sections":       func(n int) string { return "Content-Type: text/plain" + strings.Repeat(";a*0=b", n/6) },
	"percent signs":            func(n int) string { return "Content-Type: text/plain; name*=''" + strings.Repeat("%4", n/2) },
	"date":                     func(n int) string { return "Date: :" + strings.Repeat("-t", n/2) },
	"ids":                      func(n int) string { return "References: " + strings.Repeat("<", n) },
	"folds":                    func(n int) string { return "Subject: x\n" + strings.Repeat(" x\n", n/3) },
	"lines that are no fields": func(n int) string { return "A: b\n" + strings.Repeat("x\nA:\n", n/500) + strings.Repeat("x", n) },
	"base64 padding":           func(n int) string { return "Content-Transfer-Encoding: base64\n\n" + strings.Repeat("AA==", n/4) },
	"quoted-printable": func(n int) string {
		return "Content-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat("= ", n/2)
	},
	"uuencode": func(n int) string {
		return "Content-Transfer-Encoding: uuencode\n\nbegin 644 x\n" + strings.Repeat("~\n", n/2)
	},
	"utf-7": func(n int) string { return "Content-Type: text/plain; charset=utf-7\n\n" + strings.Repeat("+A", n/2) },
	"html": func(n int) string {
		return "Content-Type: text/html\n\n" + strings.Repeat("<div><table><a <b ", n/18)
	},
}

// A message sixteen times as large may not cost 256 times as much. The bound lies between, far from both, and the
// machine gets three tries: what it guards against is off by orders of magnitude, and others may be at work.
func TestLinear(t *testing.T) {
	const small, times = 64_000, 16
	for name, build := range hostile {
		t.Run(name, func(t *testing.T) {
			raw := build(small)
			once := min(readTime(t, raw), readTime(t, raw), readTime(t, raw))
			bound := 4 * times * max(once, 10*time.Millisecond)
			raw = build(times * small)
			tries := []time.Duration{readTime(t, raw)}
			for len(tries) < 3 && tries[len(tries)-1] > bound {
				tries = append(tries, readTime(t, raw))
			}
			require.LessOrEqual(t, tries[len(tries)-1], bound, "%v for %d bytes; for %d times as many %v", once, small, times, tries)
		})
	}
}

// readTime is how long it takes to read a message and make text of it.
func readTime(t *testing.T, raw string) time.Duration {
	t.Helper()
	start := time.Now()
	m, err := mime.ParseBytes([]byte(raw), &mime.Limits{HeaderFields: 1_000_000, Parts: 1_000_000, Depth: 1_000_000})
	if err == nil {
		mime.TextFromHTML(m.HTML)
	} else {
		require.ErrorIs(t, err, mime.ErrLimit)
	}
	return time.Since(start)
}

// Memory is bounded by the size of the message, whatever it says about itself.
func TestMemoryIsLinear(t *testing.T) {
	const size = 256 << 10
	for name, build := range hostile {
		raw := []byte(build(size))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = mime.ParseBytes(raw, nil)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*size), name)
	}
}
