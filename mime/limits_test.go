package mime_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/bounce"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// nested is a message of multiparts, each within the one before.
func nested(depth int) string {
	var out strings.Builder
	for i := range depth {
		fmt.Fprintf(&out, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	return out.String() + "\nText.\n"
}

// Nothing beyond the limits makes a message unreadable: who wrote it and about what is seen, and a defect says which
// limit is to be raised.
func TestLimits(t *testing.T) {
	const head = "From: ada@example.com\nSubject: seen\n"
	multi := head + "Content-Type: multipart/mixed; boundary=b\n\n"
	cases := map[string]struct {
		raw    string
		limits mime.Limits
		detail string
		text   string
		opaque []string // paths
	}{
		"size":                {head + "\n" + strings.Repeat("x", 100), mime.Limits{Size: 50}, "Limits.Size is 50", strings.Repeat("x", 13), nil},
		"depth of multiparts": {head + nested(10), mime.Limits{Depth: 10}, "Limits.Depth is 10", "", []string{"1.1.1.1.1.1.1.1.1"}},
		"depth of messages":   {head + strings.Repeat("Content-Type: message/rfc822\n\n", 10), mime.Limits{Depth: 10}, "Limits.Depth is 10", "", nil},
		"depth of one":        {head + nested(2), mime.Limits{Depth: 1}, "Limits.Depth is 1", "", []string{""}},
		"depth of a message in base64": {
			head + "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogeA==",
			mime.Limits{Depth: 1}, "Limits.Depth is 1", "", []string{""},
		},
		"parts": {multi + strings.Repeat("--b\n\npart\n", 20), mime.Limits{Parts: 20}, "Limits.Parts is 20", strings.Repeat("part\n", 18) + "part", []string{"20"}},
		"parts, of a multipart inside": {
			multi + "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\none\n--c\n\ntwo\n--c--\n--b\n\nthree\n--b--",
			mime.Limits{Parts: 3},
			"Limits.Parts is 3", "one", []string{"1.2", "2"},
		},
		"parts, of a message inside": {
			multi + "--b\n\none\n--b\nContent-Type: message/rfc822\n\nSubject: x\n--b--", mime.Limits{Parts: 3},
			"Limits.Parts is 3", "one", []string{"2"},
		},
		"header bytes":         {"X: " + strings.Repeat("x", 100) + "\n" + head + "Y: z\n\ntext", mime.Limits{HeaderBytes: 100}, "Limits.HeaderBytes is 100", "text", nil},
		"header bytes, folded": {"X: x\n" + strings.Repeat(" x\n", 50) + head + "Y: z\n folded\n\ntext", mime.Limits{HeaderBytes: 100}, "Limits.HeaderBytes is 100", "text", nil},
		"header fields":        {strings.Repeat("X: x\n", 11) + "Y: z\n" + head + "From: eve@evil.example\nY: z\n\ntext", mime.Limits{HeaderFields: 11}, "Limits.HeaderFields is 11", "text", nil},
		"fields of all parts": {
			multi + strings.Repeat("--b\nX: x\n\n", 10) + "--b\nY: z\nContent-Disposition: attachment\n\nx",
			mime.Limits{HeaderFields: 10},
			"Limits.HeaderFields is 10", "", nil,
		},
		"addresses":             {strings.Repeat("X: x\n", 10) + head + "To: " + strings.Repeat("a@b,", 100) + "\n\ntext", mime.Limits{HeaderFields: 10}, "Limits.HeaderFields is 10", "text", nil},
		"default depth":         {head + nested(200), mime.Limits{}, "Limits.Depth is 100", "", []string{strings.TrimSuffix(strings.Repeat("1.", 99), ".")}},
		"default header fields": {strings.Repeat("X:\n", 60_000) + head + "\ntext", mime.Limits{}, "Limits.HeaderFields is 50000", "text", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := mime.Parse(strings.NewReader(c.raw), &c.limits)
			require.NoError(t, err)
			requireSound(t, m)
			require.Equal(t, "seen", m.Subject)
			require.Equal(t, []mime.Address{{Email: "ada@example.com"}}, m.From)
			require.LessOrEqual(t, len(m.To), 10, "of a list, the first few")
			require.Empty(t, m.Header.Get("Y"), "a field behind the limit")
			require.Equal(t, c.text, m.Text)
			require.Contains(t, details(m, mime.LimitExceeded), c.detail)
			require.Equal(t, c.opaque, opaque(m))
		})
	}
}

// details are what the defects of a kind say, in the message and in those attached to it.
func details(m *mime.Message, kind mime.DefectKind) (found []string) {
	for _, d := range m.Defects {
		if d.Kind == kind {
			found = append(found, d.Detail)
		}
	}
	for _, p := range m.Attachments {
		if p.Message != nil {
			found = append(found, details(p.Message, kind)...)
		}
	}
	return found
}

// opaque are the paths of the attached parts that were not opened; each holds its bytes.
func opaque(m *mime.Message) (paths []string) {
	for _, p := range m.Attachments {
		if p.IsOpaque() {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

func TestOpaquePartsHoldTheirBytes(t *testing.T) {
	raw := "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo\n--b\nX: y\n\nthree\n--b--\nend\n"
	m, err := mime.ParseBytes([]byte(raw), &mime.Limits{Parts: 2})
	require.NoError(t, err)
	require.Len(t, m.Root.Parts, 2)
	require.Equal(t, "\ntwo\n--b\nX: y\n\nthree", string(m.Root.Parts[1].Content))
	require.Equal(t, "application/octet-stream", m.Root.Parts[1].ContentType)

	m, err = mime.ParseBytes([]byte(raw), &mime.Limits{Depth: 1})
	require.NoError(t, err)
	require.Equal(t, "multipart/mixed", m.Root.ContentType)
	require.False(t, m.Root.IsMultipart())
	require.Equal(t, "--b\n\none\n--b\n\ntwo\n--b\nX: y\n\nthree\n--b--\nend\n", string(m.Root.Content))
}

// A field that goes on far beyond the limit is cut, whether it is folded or not.
func TestLongFieldsAreCut(t *testing.T) {
	for name, subject := range map[string]string{"in one line": strings.Repeat("x", 200_000),
		"folded": strings.Repeat("x\n ", 70_000)} {
		m, err := mime.ParseBytes([]byte("X: y\nSubject: "+subject+"\nFrom: ada@example.com\n\ntext"),
			&mime.Limits{HeaderBytes: 10})
		require.NoError(t, err)
		require.InDelta(t, 64<<10, len(m.Header.Get("Subject"))+strings.Count(m.Subject, " "), 64<<9, name)
		require.Equal(t, "ada@example.com", m.From[0].Email)
		require.Equal(t, "text", m.Text)
		require.Contains(t, details(m, mime.LimitExceeded), "Limits.HeaderBytes is 10")
	}
}

func TestDefectsAreBounded(t *testing.T) {
	m, err := mime.Parse(strings.NewReader(strings.Repeat("A: \xe9\n", 5_000)+"\n"), nil)
	require.NoError(t, err)
	require.Len(t, m.Defects, 1001)
	require.Equal(t, mime.Defect{Kind: mime.MoreDefects}, m.Defects[1000])
}

func TestLimitsAreInclusive(t *testing.T) {
	raw := nested(9)
	m, err := mime.Parse(strings.NewReader(raw), &mime.Limits{
		Size: len(raw), Depth: 10, Parts: 10, HeaderFields: 9, HeaderBytes: strings.LastIndex(raw, "\n\n--b8") - 9*len(
			"\n--b0\n") + 9,
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
}

func TestReadError(t *testing.T) {
	cause := errors.New("the line is cut")
	_, err := mime.Parse(iotest.ErrReader(cause), nil)
	require.ErrorIs(t, err, cause)
}

// A message wrapped in encodings that do not make it smaller would cost its size again at each level.
func TestEncodedMessagesAreBounded(t *testing.T) {
	raw := "Subject: innermost\n\n" + strings.Repeat("x", 500_000)
	for range 20 {
		raw = "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n" +
			strings.ReplaceAll(raw, "=", "=3D")
	}
	m, err := mime.Parse(strings.NewReader(raw), nil)
	require.NoError(t, err)
	opened := 0
	for m.Root.Message != nil {
		m = m.Root.Message
		opened++
	}
	require.Equal(t, 2, opened)
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
		raw = "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" +
			base64.StdEncoding.EncodeToString([]byte(raw))
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
	"tiny parts": func(n int) string {
		return "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\n\n", n/6)
	},
	"tiny parts, deep down": func(n int) string { return nested(90) + strings.Repeat("--b89\n\n\n", n/8) },
	"tiny messages": func(n int) string {
		return "Content-Type: multipart/digest; boundary=b\n\n" + strings.Repeat("--b\n\nA:\n\n", n/10)
	},
	"tiny fields":                   func(n int) string { return strings.Repeat("A:\n", n/3) },
	"tiny addresses":                func(n int) string { return "To: " + strings.Repeat("a@b,", n/4) },
	"tiny ids":                      func(n int) string { return "References: " + strings.Repeat("<a>", n/3) },
	"tiny parameters":               func(n int) string { return "Content-Type: a/b;" + strings.Repeat("a=b;c=d;", n/8) },
	"many parameters":               func(n int) string { return "Content-Type: a/b" + numbered(";p%d=x", n) },
	"tiny words":                    func(n int) string { return "Subject: " + strings.Repeat("=?a?q?b?= ", n/10) },
	"words of no encoding":          func(n int) string { return "Subject: " + strings.Repeat("=?x?z? ", n/7) + "?=" },
	"names of no encoding":          func(n int) string { return "To: " + strings.Repeat("=?x?z? ", n/7) + "?=" },
	"parameters without semicolons": func(n int) string { return "Content-Type: a/b; " + strings.Repeat("name=x ", n/7) },
	"members of a large group":      func(n int) string { return "To: " + strings.Repeat("g", n/2) + ": " + strings.Repeat("a@b,", n/8) },
	"one word":                      func(n int) string { return "Subject: =?koi8-r?b?" + strings.Repeat("w8HD", n/4) + "?=" },
	"one line":                      func(n int) string { return "Subject: x\n\n" + strings.Repeat("x", n) },
	"one field":                     func(n int) string { return "Subject: " + strings.Repeat("x ", n/2) },
	"one file":                      func(n int) string { return "Content-Transfer-Encoding: base64\n\n" + strings.Repeat("QUJDRA==\n", n/9) },
	"Thai": func(n int) string {
		return "Content-Type: text/plain; charset=tis-620\n\n" + strings.Repeat("\xa1\xd2\xc3", n/3)
	},
	"Thai that is none": func(n int) string { return "\n" + strings.Repeat("\xa1\xd2\xc3 \r\n", n/6) },
	"half width": func(n int) string {
		return "Content-Type: text/plain; charset=shift_jis\nContent-Transfer-Encoding: quoted-printable\n\n=41" +
			strings.Repeat("\xb1", n)
	},
	"flowed Thai": func(n int) string {
		return "Content-Type: text/plain; charset=tis-620; format=flowed\n\n" + strings.Repeat("\xa1\xd2 \n", n/4)
	},
	"broken UTF-8": func(n int) string {
		return "Content-Type: text/plain; charset=utf-8\n\n\u00e9" + strings.Repeat("a\xff", n/2)
	},
	"broken UTF-8 in the header": func(n int) string { return "Subject: " + strings.Repeat("\u00e9\xff ", n/4) },
	"Thai in a message in quoted-printable": func(n int) string {
		return "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n" +
			"Content-Type: text/plain; charset=tis-620\nContent-Transfer-Encoding: quoted-printable\n\n=41" +
			strings.Repeat("\xa1", n)
	},
	"messages in base64 in each other": func(n int) string {
		raw := "Content-Type: text/plain; charset=tis-620\n\n" + strings.Repeat("\xa1", n/5)
		for range 5 {
			raw = "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" +
				base64.StdEncoding.EncodeToString([]byte(raw))
		}
		return raw
	},
	"shown in Thai": func(n int) string {
		head := "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n\nx\n--b%d\nContent-Type: message/rfc822\nContent-Disposition: inline\n\n"
		var out strings.Builder
		for i := range 4 {
			fmt.Fprintf(&out, head, i, i, i)
		}
		return out.String() + "Content-Type: text/plain; charset=tis-620\n\n" + strings.Repeat("\xa1", n)
	},
	"two texts in Thai": func(n int) string {
		return "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: text/plain; charset=tis-620\n\n" +
			strings.Repeat("\xa1", n)
	},
	"tiny alternatives of HTML": func(n int) string {
		return "Content-Type: multipart/alternative; boundary=b\n\n" +
			strings.Repeat("--b\nContent-Type: text/html\n\n<\n", n/32)
	},
	"tiny alternatives of HTML that names a charset": func(n int) string {
		return "Content-Type: multipart/alternative; boundary=b\n\n" +
			strings.Repeat("--b\nContent-Type: text/html\n\n<meta charset=big5>\n", n/50)
	},
	"multiparts that end late": func(n int) string {
		head := "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\nx\n--b\n"
		return head + "Content-Type: text/plain; charset=tis-620\n\n" + strings.Repeat("\xa1\n--c--\n", n/8)
	},
	"indented delimiters in each other": func(n int) string {
		var out strings.Builder
		for i := range 90 {
			fmt.Fprintf(&out, "Content-Type: multipart/mixed; boundary=b%d\n\n --b%d\n", i, i)
		}
		return out.String() + "Content-Type: text/plain; charset=tis-620\n\n" + strings.Repeat("\xa1", n)
	},
	"html": func(n int) string {
		return "Content-Type: text/html\n\n" + strings.Repeat("<div><table><a <b ", n/18)
	},
}

// A message sixteen times as large may not cost 256 times as much. The bound lies between, far from both, and the
// machine gets three tries: what it guards against is off by orders of magnitude, and others may be at work.
func TestLinear(t *testing.T) {
	costtest.NeedsExactCosts(t)
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
			require.LessOrEqual(t, tries[len(tries)-1], bound, "%v for %d bytes; for %d times as many %v", once,
				small, times, tries)
		})
	}
}

// Behind the limits, each field costs what the first one did: 50,000 fields are not looked through for each one more.
func TestFieldsBeyondTheLimitsAreLinear(t *testing.T) {
	costtest.NeedsExactCosts(t)
	header := strings.Repeat("X:\n", 50_001)
	took := func(raw string) time.Duration {
		return costtest.CPUTime(t, func() {
			m, err := mime.ParseBytes([]byte(raw), nil)
			require.NoError(t, err)
			require.Equal(t, "a@example.com", m.To[0].Email, "the first one is read")
		})
	}
	once := max(took(header+"To: a@example.com\n"), 10*time.Millisecond)
	require.Less(t, took(header+"To: a@example.com\n"+strings.Repeat("To: b@example.com\n", 10_000)), 20*once)
}

// Parts that name no charset cost little each, however many there are.
func TestManyPartsWithoutACharset(t *testing.T) {
	costtest.NeedsExactCosts(t)
	took := func(parts int) time.Duration {
		raw := "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nSubject: \xa4\xa4\n\n\xa4\xe5\n", parts)
		return costtest.CPUTime(t, func() {
			_, err := mime.ParseBytes([]byte(raw), nil)
			require.NoError(t, err)
		})
	}
	took(50)
	require.Less(t, took(2000), 12*max(took(50), 10*time.Millisecond))
}

// readTime is how long it takes to read a message and make text of it.
func readTime(t *testing.T, raw string) time.Duration {
	t.Helper()
	return costtest.CPUTime(t, func() {
		m, err := mime.ParseBytes([]byte(raw), &mime.Limits{HeaderFields: 1_000_000, Parts: 1_000_000, Depth: 1_000_000})
		require.NoError(t, err)
		htmltext.Text(m.HTML)
	})
}

// numbered repeats a format with a number until it is so long.
func numbered(format string, n int) string {
	var out strings.Builder
	for i := 0; out.Len() < n; i++ {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// All memory that reading takes from the heap, garbage included, grows by less than four bytes for each byte more of
// the message, whatever it says about itself. What does not grow, for parts, fields and addresses, is bounded by the
// limits.
func TestMemoryIsLinear(t *testing.T) {
	costtest.NeedsExactCosts(t)
	const size, most = 4 << 20, 24 << 20
	read := func(raw []byte) int {
		return costtest.Allocated(func() {
			_, err := mime.ParseBytes(raw, nil)
			require.NoError(t, err)
		})
	}
	for name, build := range hostile {
		once, twice := []byte(build(size)), []byte(build(2*size))
		first, second := read(once), read(twice)
		require.Less(t, float64(second-first), 4.0*float64(len(twice)-len(once)), "%s: %d and %d bytes for %d and %d", name,
			first, second, len(once), len(twice))
		require.Less(t, first, 4*len(once)+most, name)
	}
}

// A report takes little more to read, whatever it consists of.
func TestBounceMemory(t *testing.T) {
	costtest.NeedsExactCosts(t)
	for name, line := range map[string]string{"tiny recipients": "Final-Recipient:a\n\n", "tiny fields": "A:\n",
		"tiny groups": "A:\n\n", "long fields": strings.Repeat("x", 1<<10) + ":\n"} {
		raw := "Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; ada@example.com\nAction: failed\n\n"
		m, err := mime.ParseBytes([]byte(raw+strings.Repeat(line, (4<<20)/len(line))), nil)
		require.NoError(t, err)
		var b *mime.Bounce
		n := costtest.Allocated(func() { b = bounce.Read(m) })
		require.Equal(t, "ada@example.com", b.Recipients[0].Final)
		require.Less(t, n, 8<<20, name)
	}
}

// A message that is read from a reader takes its own size, twice when the reader does not tell it.
func TestReadMemory(t *testing.T) {
	costtest.NeedsExactCosts(t)
	raw := "Subject: x\nContent-Type: application/pdf\n\n" + strings.Repeat("x\n", 4<<20)
	for name, c := range map[string]struct {
		r     io.Reader
		times float64
	}{"known": {strings.NewReader(raw), 1.1}, "unknown": {struct{ io.Reader }{strings.NewReader(raw)}, 2.6}} {
		n := costtest.Allocated(func() {
			m, err := mime.Parse(c.r, nil)
			require.NoError(t, err)
			require.Equal(t, len(raw), m.Size)
		})
		require.Less(t, float64(n), c.times*float64(len(raw)), name)
	}
}

// The texts of attached messages are shown in the message around them up to 1 MiB; what is more stays attached.
func TestShownTextsAreBounded(t *testing.T) {
	letter := "--b\nContent-Type: message/rfc822\nContent-Disposition: inline\n\nSubject: x\n\n" +
		strings.Repeat("x", 600<<10) + "\n"
	raw := "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat(letter, 3) + "--b--\n"
	m, err := mime.Parse(strings.NewReader(raw), nil)
	require.NoError(t, err)
	require.Len(t, m.Text, 600<<10)
	require.Len(t, m.Attachments, 2)
	require.Len(t, m.Attachments[0].Message.Text, 600<<10, "nothing is lost")
}
