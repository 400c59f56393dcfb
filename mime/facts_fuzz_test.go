package mime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/bounce"
	"github.com/postroom-go/postroom/mime/reply"
)

// Whatever a message says about itself, reading it ends, and every fact is one line of UTF-8.
func FuzzFacts(f *testing.F) {
	files, err := filepath.Glob("testdata/facts/*.eml")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err)
		requireSoundFacts(t, m)
	})
}

// hostileFacts make careless readers of facts quadratic or worse; each is a function of a size.
var hostileFacts = map[string]func(n int) string{
	"links":         func(n int) string { return "List-Unsubscribe: " + strings.Repeat("<(", n/2) },
	"link comments": func(n int) string { return "List-Unsubscribe: " + strings.Repeat("(a) ", n/4) },
	"list id":       func(n int) string { return "List-Id: " + strings.Repeat(`("`, n/2) },
	"signatures": func(n int) string {
		return "List-Unsubscribe-Post: List-Unsubscribe=One-Click\nList-Unsubscribe: <https://x.example>\n" +
			strings.Repeat("DKIM-Signature: h=a\n", n/20)
	},
	"signs":    func(n int) string { return strings.Repeat("Precedence: bulk\n", n/17) },
	"suppress": func(n int) string { return "X-Auto-Response-Suppress: " + strings.Repeat("a,", n/2) },
	"results": func(n int) string {
		return "Authentication-Results: mx.google.com" + strings.Repeat(";a=b", n/4) + "\nReceived: from a by mx.google.com"
	},
	"result comments": func(n int) string {
		return "Authentication-Results: mx.google.com;" + strings.Repeat("(", n) + "\nReceived: from a by mx.google.com"
	},
	"result quotes": func(n int) string {
		return "Authentication-Results: mx.google.com;a=b " + strings.Repeat(`"x"="`, n/5) +
			"\nReceived: from a by mx.google.com"
	},
	"received": func(n int) string { return strings.Repeat("Received: by x\n", n/15) },
	"chain":    func(n int) string { return strings.Repeat("ARC-Seal: i=1\n", n/14) },
	"recipients": func(n int) string {
		return "Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n" +
			strings.Repeat("Final-Recipient: a\n\n", n/20)
	},
	"failed recipients": func(n int) string {
		var out strings.Builder
		for i := range n / 20 {
			fmt.Fprintf(&out, "a%d@b,", i)
		}
		return "X-Failed-Recipients: " + out.String() + "\n\n" + strings.Repeat("550\n", n/8)
	},
	"notice": func(n int) string {
		return "From: mailer-daemon@x.example\n\n" + strings.Repeat("a@example.com 550 <\n", n/20)
	},
	"notice of many": func(n int) string {
		var out strings.Builder
		for i := range n / 24 {
			fmt.Fprintf(&out, "<a%d@example.com>:\n550\n", i)
		}
		return "From: mailer-daemon@x.example\n\n" + out.String()
	},
	"names of results in pieces": func(n int) string {
		return "ARC-Seal: i=1; cv=none\nARC-Message-Signature: i=1\nARC-Authentication-Results: i=1; x; " +
			strings.Repeat("a. ", n/3) + "\n"
	},
	"a domain of many letters": func(n int) string {
		var out strings.Builder
		for i := range n / 3 {
			out.WriteRune(0x4e00 + rune(i%20_000))
		}
		return "From: a@" + out.String() + "\n"
	},
	"quotes":                func(n int) string { return "\n" + strings.Repeat("> x\ny\n", n/6) },
	"introductions":         func(n int) string { return "\n" + strings.Repeat("From: x\nx,\n", n/11) },
	"signatures of devices": func(n int) string { return "\n" + strings.Repeat("-- \n\n> x\n", n/9) },
	"html quotations": func(n int) string {
		return "Content-Type: text/html\n\n" +
			strings.Repeat(`<div class="gmail_quote"><blockquote type=cite>x</blockquote>`, n/61)
	},
}

// A message sixteen times as large may not cost 256 times as much.
func TestFactsAreLinear(t *testing.T) {
	costtest.NeedsExactCosts(t)
	const small, times = 32_000, 16
	for name, build := range hostileFacts {
		t.Run(name, func(t *testing.T) {
			factsTime := func(raw string) time.Duration {
				m, err := mime.ParseBytes([]byte(raw), nil)
				require.NoError(t, err)
				return costtest.CPUTime(t, func() { requireSoundFacts(t, m) })
			}
			once := min(factsTime(build(small)), factsTime(build(small)))
			bound := 4 * times * max(once, 5*time.Millisecond)
			large := build(times * small)
			require.LessOrEqual(t, min(factsTime(large), factsTime(large)), bound, "%s for %d bytes", once, small)
		})
	}
}

func requireSoundFacts(t require.TestingT, m *mime.Message) {
	line := func(s string) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00") {
			require.Fail(t, "not one line of UTF-8", "%q", s)
		}
	}
	list := m.Header.List()
	line(list.ID)
	line(list.Name)
	if link := list.Unsubscribe.OneClick; link != nil {
		require.Equal(t, "https", link.Scheme)
		require.NotEmpty(t, m.Header.Get("List-Unsubscribe-Post"))
	}
	for _, mail := range list.Unsubscribe.Mail {
		line(mail.Subject)
		for _, to := range mail.To {
			line(to)
			require.Contains(t, to, "@")
		}
	}
	for _, sign := range m.Header.Automatic() {
		line(sign.String())
	}
	if b := bounce.Read(m); b != nil {
		require.NotEmpty(t, b.Recipients)
		line(b.ReportingMTA)
		line(b.OriginalMessageID)
		for _, r := range b.Recipients {
			require.NotEmpty(t, r.Address())
			require.Contains(t, actions, r.Action)
			require.LessOrEqual(t, len(r.Diagnostic), 600)
			line(r.Address())
			line(r.Diagnostic)
			require.Regexp(t, `^([245]\.\d+\.\d+)?$`, r.Status)
		}
	}
	for _, r := range authres.Read(m.Header, gmailServer).Results {
		line(showResult(r))
	}
	if from, ok := authres.VerifiedFrom(m, gmailServer); ok {
		require.Equal(t, m.From, []mime.Address{from})
	}
	for i, set := range authres.ReadARC(m.Header).Sets {
		require.Greater(t, set.Instance, i)
		line(set.Domain)
		line(set.Claims.ServID)
	}
	line(authres.ReadARC(m.Header).Broken)
	for _, p := range reply.Read(m) {
		require.Contains(t, []reply.Kind{reply.Written, reply.Attribution, reply.Quoted, reply.Signature, reply.Footer},
			p.Kind)
	}
	if r := m.Receipt(); r != nil {
		line(r.Final)
		line(r.Disposition)
	}
	if f := m.Feedback(); f != nil {
		line(f.Sender)
		require.Positive(t, f.Incidents)
	}
}

var actions = []mime.BounceAction{
	mime.BounceFailed, mime.BounceDelayed, mime.BounceDelivered, mime.BounceRelayed, mime.BounceExpanded,
}
