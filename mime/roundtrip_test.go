package mime_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/mime"
)

// What is built reads back as it was, and keeps to the line length of RFC 5322.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOutgoing(t)
		raw, err := o.Build()
		require.NoError(t, err)
		requireLines(t, raw)
		again, err := o.Build()
		require.NoError(t, err)
		require.Equal(t, raw, again, "the same message builds the same bytes")

		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err)
		require.Empty(t, m.Defects)
		requireSame(t, o, m)
	})
}

func requireLines(t require.TestingT, raw []byte) {
	for line := range bytes.Lines(raw) {
		line, terminated := bytes.CutSuffix(line, []byte("\r\n"))
		require.LessOrEqual(t, len(line), 998)
		if terminated {
			require.NotContains(t, string(line), "\r")
		}
		require.NotContains(t, string(line), "\n")
	}
	header, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	for line := range bytes.Lines(header) {
		if encodedWord.Match(line) {
			require.LessOrEqual(t, len(bytes.TrimSpace(line))+1, 77, "%s", line) // RFC 2047, section 2
		}
	}
}

var encodedWord = regexp.MustCompile(`=\?utf-8\?[bq]\?`)

func requireSame(t require.TestingT, o *mime.Outgoing, m *mime.Message) {
	require.Equal(t, inASCII(o.From), m.From)
	require.Equal(t, inASCII(o.To), m.To)
	require.Equal(t, inASCII(o.Cc), m.Cc)
	require.Equal(t, inASCII(o.Bcc), m.Bcc)
	require.Equal(t, inASCII(o.ReplyTo), m.ReplyTo)
	require.Equal(t, inASCII(o.ReceiptTo), m.Header.ReceiptTo())
	require.Equal(t, o.Subject, m.Subject)
	require.True(t, o.Date.Equal(m.Date), "date %v became %v", o.Date, m.Date)
	require.Equal(t, o.MessageID, m.MessageID)
	require.Equal(t, o.InReplyTo, m.InReplyTo)
	require.Equal(t, o.References, m.References)
	for _, f := range o.Header {
		require.Contains(t, m.Header.Values(f.Name), f.Value)
	}
	require.Equal(t, strings.ReplaceAll(o.Text, "\r\n", "\n"), m.Text)
	require.Equal(t, strings.ReplaceAll(o.HTML, "\r\n", "\n"), m.HTML)
	require.Len(t, m.Attachments, len(o.Attachments))
	for _, want := range o.Attachments {
		require.Condition(t, func() bool {
			for _, got := range m.Attachments {
				if got.Filename == want.Filename && bytes.Equal(got.Content, want.Content) && got.ContentID == want.ContentID {
					return true
				}
			}
			return false
		}, "attachment %q is missing or has changed", want.Filename)
	}
}

// inASCII is the form in which addresses with international domains arrive (RFC 5891).
func inASCII(list []mime.Address) []mime.Address {
	list = slices.Clone(list)
	for i := range list {
		at := strings.LastIndexByte(list[i].Email, '@') + 1
		domain := list[i].Email[at:]
		if !strings.ContainsFunc(domain, func(r rune) bool { return r >= utf8.RuneSelf }) {
			continue // it is written as it is
		}
		if ascii, err := idna.Lookup.ToASCII(domain); err == nil {
			list[i].Email = list[i].Email[:at] + ascii
		}
	}
	return list
}

func drawOutgoing(t *rapid.T) *mime.Outgoing {
	o := &mime.Outgoing{
		From:       []mime.Address{drawAddress(t)},
		To:         rapid.SliceOfN(rapid.Custom(drawAddress), 1, 5).Draw(t, "to"),
		Cc:         drawSlice(t, "cc", drawAddress),
		Bcc:        drawSlice(t, "bcc", drawAddress),
		ReplyTo:    drawSlice(t, "reply-to", drawAddress),
		ReceiptTo:  drawSlice(t, "receipt-to", drawAddress),
		Subject:    drawLine(t),
		MessageID:  drawID(t),
		InReplyTo:  rapid.OneOf(rapid.Just(""), rapid.Custom(drawID)).Draw(t, "in-reply-to"),
		References: drawSlice(t, "references", drawID),
		Date:       time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "date"), 0).UTC(),
		Header: drawSlice(t, "header", func(t *rapid.T) mime.Field {
			return mime.Field{Name: "X-Note", Value: drawLine(t)}
		}),
		Text: drawBody(t),
		HTML: drawBody(t),
	}
	o.Attachments = drawSlice(t, "attachments", drawAttachment)
	return o
}

// drawSlice draws nil or up to four.
func drawSlice[T any](t *rapid.T, label string, draw func(*rapid.T) T) []T {
	s := rapid.SliceOfN(rapid.Custom(draw), 0, 4).Draw(t, label)
	if len(s) == 0 {
		return nil
	}
	return s
}

// visible is printable ASCII without the blank.
var visible = &unicode.RangeTable{R16: []unicode.Range16{{Lo: '!', Hi: '~', Stride: 1}}}

var lines = rapid.OneOf(
	rapid.StringMatching(`[ -~]{0,200}`),
	rapid.StringOfN(rapid.RuneFrom(nil, visible), 900, 2000, -1),
	rapid.StringMatching(`=\?utf-8\?[qb]\?[!-~]{0,20}\?=`),
	rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r != '\r' && r != '\n' && r != 0 }), 0, 200, -1),
)

func drawLine(t *rapid.T) string { return lines.Draw(t, "line") }

func drawAddress(t *rapid.T) mime.Address {
	email := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9!#$%&'*+/=?^_{|}~-]{1,20}(\.[a-z0-9]{1,5})?@[a-z0-9-]{1,20}\.example`),
		rapid.StringMatching(`"[ -!#-\[\]-~]{1,20}"@\[192\.0\.2\.[0-9]\]`),
		rapid.Just("user@例子.example"),
	).Draw(t, "email")
	group := rapid.SampledFrom([]string{"", "", "Friends", "Fr\u00fchaufsteher, alle"}).Draw(t, "group")
	return mime.Address{Name: strings.TrimSpace(drawLine(t)), Email: email, Group: group}
}

func drawID(t *rapid.T) string {
	return rapid.StringMatching(`[!-;=?-~]{1,60}@[a-z]{1,60}`).Draw(t, "id")
}

func drawBody(t *rapid.T) string {
	return rapid.OneOf(
		rapid.Just(""),
		rapid.StringMatching(`([ -~]{0,90}\r?\n)*`),
		rapid.StringMatching(`(--[a-z=_]{0,4}\n|From x\n|\.\n| \n|=\n)*`),
		rapid.StringOfN(rapid.RuneFrom(nil, visible), 990, 1100, -1),
		rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != '\r' && r != '\uFEFF' })),
	).Draw(t, "body")
}

func drawAttachment(t *rapid.T) mime.Attachment {
	a := mime.Attachment{
		Filename: drawLine(t),
		ContentType: rapid.SampledFrom([]string{"", "text/plain", "application/pdf",
			`text/csv; charset="iso-8859-1"`}).Draw(t, "type"),
		Content:   rapid.SliceOf(rapid.Byte()).Draw(t, "content"),
		ContentID: rapid.OneOf(rapid.Just(""), rapid.Custom(drawID)).Draw(t, "cid"),
	}
	if rapid.Bool().Draw(t, "inline") { // a text would be shown as part of the body
		a.Inline, a.ContentType = true, "image/png"
	}
	return a
}
