package mime_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

var (
	ada  = mime.Address{Name: "Ada Lovelace", Email: "ada@example.com"}
	bob  = mime.Address{Email: "bob@example.org"}
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", -(3*3600+1800)))
)

// TestBuildGolden fixes the bytes that are built; read testdata/build to see what they look like.
func TestBuildGolden(t *testing.T) {
	photo := []byte("\x89PNG")
	cases := map[string]mime.Outgoing{
		"text": {From: []mime.Address{ada}, To: []mime.Address{bob}, Subject: "Hello", Date: noon, MessageID: "m1@example.com", Text: "Hello Bob.\n"},
		"reply": {
			From: []mime.Address{ada}, ReplyTo: []mime.Address{{Name: "Lists, all", Email: "lists@example.com"}},
			To:      []mime.Address{bob},
			Subject: "Re: Gr\u00fc\u00dfe aus K\u00f6ln", Date: noon, MessageID: " <m2@example.com> ",
			InReplyTo:  "<m1@example.com>",
			References: []string{"<m0@example.com>", "", "m1@ example.com"},
			Header:     []mime.Field{{Name: "Auto-Submitted", Value: "auto-replied"}, {Name: "X-Empty"}},
			Text:       "Sch\u00f6ne Gr\u00fc\u00dfe\nzur\u00fcck, und noch etwas, damit die Zeile l\u00e4nger wird als sechsundsiebzig Zeichen.\n",
		},
		"alternative": {
			From: []mime.Address{ada}, To: []mime.Address{bob}, Subject: "Both", Date: noon, Text: "\u65e5\u672c\u8a9e\n",
			HTML: "<p>\u65e5\u672c\u8a9e</p>\n",
		},
		"everything": {
			From:    []mime.Address{{Name: "\u6570\u5b57 \"\u674e\"", Email: "li@example.com"}},
			Subject: "Everything at once", Date: noon,
			To: []mime.Address{bob, {Name: `The "Great" Carol`, Email: "carol@example.org"},
				{Name: "Dave", Email: "dave@example.org"}},
			Cc:   []mime.Address{{Name: "=?utf-8?q?Eve?=", Email: `"e v e"@example.net`}},
			Bcc:  []mime.Address{{Email: "frank@[192.0.2.1]"}},
			Text: "See the photo.\n", HTML: `<img src="cid:p1">`,
			Attachments: []mime.Attachment{
				{Filename: "photo.png", ContentType: "image/png", Content: photo, Inline: true, ContentID: "<p1>"},
				{Filename: strings.Repeat("\u20ac", 12) + " rates.csv", ContentType: "text/csv; charset=iso-8859-1", Content: []byte("caf\xe9")},
				{Content: []byte("no name, no type")},
				{Filename: "forwarded.eml", ContentType: "message/rfc822", Content: []byte("Subject: forwarded\n\n--=_\n")},
			},
		},
		"attachment-alone": {
			From: []mime.Address{ada}, Bcc: []mime.Address{bob},
			Attachments: []mime.Attachment{{Filename: `a "b" \c.txt`, ContentType: "text/plain", Content: []byte("x")}},
		},
	}
	maps.Copy(cases, kinds)
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			raw, err := o.Build()
			require.NoError(t, err)
			requireLines(t, raw)
			requireGolden(t, filepath.Join("testdata", "build", name+".eml"), raw)
			m, err := mime.ParseBytes(raw, nil)
			require.NoError(t, err)
			require.Empty(t, m.Defects)
		})
	}
	files, err := os.ReadDir("testdata/build")
	require.NoError(t, err)
	require.Len(t, files, len(cases))
}

func TestBuildRefuses(t *testing.T) {
	cases := map[string]struct {
		change func(o *mime.Outgoing)
		field  string
		err    error
	}{
		"line break in a name":            {func(o *mime.Outgoing) { o.To[0].Name = "Bob\r\nBcc: eve@evil.example" }, "To[0].Name", mime.ErrLineBreak},
		"line break in an address":        {func(o *mime.Outgoing) { o.From[0].Email = "ada@example.com\nX: y" }, "From[0].Email", mime.ErrLineBreak},
		"line break in a quoted address":  {func(o *mime.Outgoing) { o.Cc = []mime.Address{bob, {Email: "\"a\r\n\"@b.example"}} }, "Cc[1].Email", mime.ErrLineBreak},
		"line break in a reply address":   {func(o *mime.Outgoing) { o.ReplyTo = []mime.Address{{Name: "\x00", Email: "a@b"}} }, "ReplyTo[0].Name", mime.ErrLineBreak},
		"line break in a blind copy":      {func(o *mime.Outgoing) { o.Bcc = []mime.Address{{Name: "\r", Email: "a@b"}} }, "Bcc[0].Name", mime.ErrLineBreak},
		"line break in the subject":       {func(o *mime.Outgoing) { o.Subject = "Hello\nBcc: eve@evil.example" }, "Subject", mime.ErrLineBreak},
		"NUL in the subject":              {func(o *mime.Outgoing) { o.Subject = "Hello\x00" }, "Subject", mime.ErrLineBreak},
		"line break in the id":            {func(o *mime.Outgoing) { o.MessageID = "a@b\r\nX: y" }, "MessageID", mime.ErrLineBreak},
		"line break in an answered id":    {func(o *mime.Outgoing) { o.InReplyTo = "a@b\r" }, "InReplyTo", mime.ErrLineBreak},
		"line break in a reference":       {func(o *mime.Outgoing) { o.References = []string{"a@b", "c@d\n e@f"} }, "References[1]", mime.ErrLineBreak},
		"line break in a header value":    {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "X", Value: "a\r\n b"}} }, "Header[0].Value", mime.ErrLineBreak},
		"line break in a header name":     {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "X: y\r\nBcc", Value: "z"}} }, "Header[0].Name", mime.ErrLineBreak},
		"line break in a file name":       {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{Filename: "a\r\nb"}} }, "Attachments[0].Filename", mime.ErrLineBreak},
		"line break in a type":            {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{ContentType: "a/b\r\nX: y"}} }, "Attachments[0].ContentType", mime.ErrLineBreak},
		"line break in a content id":      {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{ContentID: "a\nb"}} }, "Attachments[0].ContentID", mime.ErrLineBreak},
		"no sender":                       {func(o *mime.Outgoing) { o.From = []mime.Address{{}} }, "From[0].Email", mime.ErrInvalid},
		"no address":                      {func(o *mime.Outgoing) { o.To[0].Email = "bob" }, "To[0].Email", mime.ErrInvalid},
		"two addresses in one":            {func(o *mime.Outgoing) { o.To[0].Email = "bob@example.org,eve@evil.example" }, "To[0].Email", mime.ErrInvalid},
		"brackets in an address":          {func(o *mime.Outgoing) { o.To[0].Email = "<bob@example.org>" }, "To[0].Email", mime.ErrInvalid},
		"blank in an address":             {func(o *mime.Outgoing) { o.To[0].Email = "bob @example.org" }, "To[0].Email", mime.ErrInvalid},
		"quotes that end early":           {func(o *mime.Outgoing) { o.To[0].Email = `"a" <eve@evil.example>, "b"@example.org` }, "To[0].Email", mime.ErrInvalid},
		"empty domain label":              {func(o *mime.Outgoing) { o.To[0].Email = "bob@example..org" }, "To[0].Email", mime.ErrInvalid},
		"very long address":               {func(o *mime.Outgoing) { o.To[0].Email = strings.Repeat("b", 320) + "@example.org" }, "To[0].Email", mime.ErrInvalid},
		"two ids in one":                  {func(o *mime.Outgoing) { o.InReplyTo = "<a@b> <c@d>" }, "InReplyTo", mime.ErrInvalid},
		"very long id":                    {func(o *mime.Outgoing) { o.References = []string{strings.Repeat("a", 901)} }, "References[0]", mime.ErrInvalid},
		"header without a name":           {func(o *mime.Outgoing) { o.Header = []mime.Field{{Value: "x"}} }, "Header[0].Name", mime.ErrInvalid},
		"header name with a colon":        {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "Bcc:", Value: "x"}} }, "Header[0].Name", mime.ErrInvalid},
		"header name beyond ASCII":        {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "Gr\u00fc\u00dfe"}} }, "Header[0].Name", mime.ErrInvalid},
		"header that Build writes":        {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "bcc", Value: "eve@evil.example"}} }, "Header[0].Name", mime.ErrInvalid},
		"header that describes the body":  {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "Content-Type", Value: "text/html"}} }, "Header[0].Name", mime.ErrInvalid},
		"line break in a group":           {func(o *mime.Outgoing) { o.To[0].Group = "a\n" }, "To[0].Group", mime.ErrLineBreak},
		"line break in the sender":        {func(o *mime.Outgoing) { o.Sender = mime.Address{Name: "a\r", Email: "a@b"} }, "Sender.Name", mime.ErrLineBreak},
		"line break in a receipt address": {func(o *mime.Outgoing) { o.ReceiptTo = []mime.Address{{Email: "a@b\n"}} }, "ReceiptTo[0].Email", mime.ErrLineBreak},
		"line break in a link":            {func(o *mime.Outgoing) { o.ListUnsubscribe = []string{"https://x.example/\r\nX: y"} }, "ListUnsubscribe[0]", mime.ErrLineBreak},
		"line break in a boundary":        {func(o *mime.Outgoing) { o.Boundary = "a\r\nb" }, "Boundary", mime.ErrInvalid},
		"line break in a method":          {func(o *mime.Outgoing) { o.Calendar = &mime.Calendar{Method: "A\r\nX: y", Text: invitation} }, "Calendar.Method", mime.ErrInvalid},
		"line break in a diagnostic": {func(o *mime.Outgoing) {
			o.Bounce = testBounce()
			o.Bounce.Recipients[0].Diagnostic = "a\nStatus: 2.0.0"
		}, "Bounce.Recipients[0].Diagnostic", mime.ErrLineBreak},
		"line break in a program's name": {func(o *mime.Outgoing) { o.Receipt = receipt(); o.Receipt.ReportingUA = "a\n" }, "Receipt.ReportingUA", mime.ErrLineBreak},
		"line break in a disposition":    {func(o *mime.Outgoing) { o.Receipt = receipt(); o.Receipt.Disposition = "a\n" }, "Receipt.Disposition", mime.ErrLineBreak},
		"nobody":                         {func(o *mime.Outgoing) { o.From = nil }, "From", mime.ErrInvalid},
		"two authors and no sender":      {func(o *mime.Outgoing) { o.From = append(o.From, bob) }, "Sender", mime.ErrInvalid},
		"sender in a group":              {func(o *mime.Outgoing) { o.Sender = mime.Address{Email: "a@b", Group: "g"} }, "Sender.Group", mime.ErrInvalid},
		"local part beyond ASCII":        {func(o *mime.Outgoing) { o.To[0].Email = "j\u00fcrgen@example.org" }, "To[0].Email", mime.ErrInvalid},
		"domain that is none":            {func(o *mime.Outgoing) { o.To[0].Email = "bob@\u0301.example" }, "To[0].Email", mime.ErrInvalid},
		"header that Build writes too":   {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "Sender", Value: "a@b"}} }, "Header[0].Name", mime.ErrInvalid},
		"header without an address":      {func(o *mime.Outgoing) { o.Header = []mime.Field{{Name: "resent-to", Value: "Bob"}} }, "Header[0].Value", mime.ErrInvalid},
		"link of another kind":           {func(o *mime.Outgoing) { o.ListUnsubscribe = []string{"javascript:alert(1)"} }, "ListUnsubscribe[0]", mime.ErrInvalid},
		"link with a bracket":            {func(o *mime.Outgoing) { o.ListUnsubscribe = []string{"https://x.example/>,<https://evil.example"} }, "ListUnsubscribe[0]", mime.ErrInvalid},
		"one click without https":        {func(o *mime.Outgoing) { o.OneClick, o.ListUnsubscribe = true, []string{"mailto:a@b"} }, "OneClick", mime.ErrInvalid},
		"boundary of blanks":             {func(o *mime.Outgoing) { o.Boundary = "a b" }, "Boundary", mime.ErrInvalid},
		"boundary in the content": {func(o *mime.Outgoing) {
			o.Boundary = "b"
			o.Attachments = []mime.Attachment{{ContentType: "message/rfc822", Content: []byte("X: y\n\n--=_b.1\n")}}
		}, "Boundary", mime.ErrInvalid},
		"calendar that is none":            {func(o *mime.Outgoing) { o.Calendar = &mime.Calendar{Text: "x"} }, "Calendar.Text", mime.ErrInvalid},
		"method that is not the object's":  {func(o *mime.Outgoing) { o.Calendar = &mime.Calendar{Method: "CANCEL", Text: invitation} }, "Calendar.Method", mime.ErrInvalid},
		"two reports":                      {func(o *mime.Outgoing) { o.Bounce, o.Receipt = testBounce(), receipt() }, "Bounce", mime.ErrInvalid},
		"report with a file":               {func(o *mime.Outgoing) { o.Receipt, o.Attachments = receipt(), []mime.Attachment{{}} }, "Bounce", mime.ErrInvalid},
		"report with an invitation":        {func(o *mime.Outgoing) { o.Bounce, o.Calendar = testBounce(), &mime.Calendar{Text: invitation} }, "Bounce", mime.ErrInvalid},
		"report to nobody":                 {func(o *mime.Outgoing) { o.Bounce = testBounce(); o.Bounce.Recipients[1].Final = "" }, "Bounce.Recipients[1].Final", mime.ErrInvalid},
		"report with half an address":      {func(o *mime.Outgoing) { o.Bounce = testBounce(); o.Bounce.Recipients[0].Original = "bob" }, "Bounce.Recipients[0].Original", mime.ErrInvalid},
		"report with a name beyond ASCII":  {func(o *mime.Outgoing) { o.Receipt = receipt(); o.Receipt.Final = "j\u00fcrgen@example.org" }, "Receipt.Final", mime.ErrInvalid},
		"line break in a report's address": {func(o *mime.Outgoing) { o.Receipt = receipt(); o.Receipt.Final = "a@b\n" }, "Receipt.Final", mime.ErrLineBreak},
		"disposition of two words":         {func(o *mime.Outgoing) { o.Receipt = receipt(); o.Receipt.Disposition = "displayed now" }, "Receipt.Disposition", mime.ErrInvalid},
		"modifier of two words":            {func(o *mime.Outgoing) { o.Receipt = receipt(); o.Receipt.Modifiers = []string{"a b"} }, "Receipt.Disposition", mime.ErrInvalid},
		"report of no host":                {func(o *mime.Outgoing) { o.Bounce = testBounce(); o.Bounce.ReportingMTA = "" }, "Bounce.ReportingMTA", mime.ErrInvalid},
		"report about nobody":              {func(o *mime.Outgoing) { o.Bounce = testBounce(); o.Bounce.Recipients = nil }, "Bounce.Recipients", mime.ErrInvalid},
		"report without a status":          {func(o *mime.Outgoing) { o.Bounce = testBounce(); o.Bounce.Recipients[0].Status = "550" }, "Bounce.Recipients[0].Status", mime.ErrInvalid},
		"report without an action":         {func(o *mime.Outgoing) { o.Bounce = testBounce(); o.Bounce.Recipients[0].Action = "" }, "Bounce.Recipients[0].Action", mime.ErrInvalid},
		"report without an address":        {func(o *mime.Outgoing) { o.Receipt = receipt(); o.Receipt.Final = "" }, "Receipt.Final", mime.ErrInvalid},
		"message returned for no reason":   {func(o *mime.Outgoing) { o.Returned = []byte("X: y\n\n") }, "Returned", mime.ErrInvalid},
		"file in two ways":                 {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{Content: []byte("x"), Open: opened("x")}} }, "Attachments[0].Open", mime.ErrInvalid},
		"text that is no UTF-8":            {func(o *mime.Outgoing) { o.Text = "caf\xe9" }, "Text", mime.ErrInvalid},
		"HTML that is no UTF-8":            {func(o *mime.Outgoing) { o.HTML = "caf\xe9" }, "HTML", mime.ErrInvalid},
		"subject that is no UTF-8":         {func(o *mime.Outgoing) { o.Subject = "caf\xe9" }, "Subject", mime.ErrInvalid},
		"type that is none":                {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{ContentType: "text"}} }, "Attachments[0].ContentType", mime.ErrInvalid},
		"type of a multipart":              {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{ContentType: "multipart/mixed"}} }, "Attachments[0].ContentType", mime.ErrInvalid},
		"type with a broken parameter":     {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{ContentType: "text/plain; x y=z"}} }, "Attachments[0].ContentType", mime.ErrInvalid},
		"type whose parameter has no end":  {func(o *mime.Outgoing) { o.Attachments = []mime.Attachment{{ContentType: `text/plain; x="y`}} }, "Attachments[0].ContentType", mime.ErrInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := mime.Outgoing{From: []mime.Address{ada}, To: []mime.Address{bob}, Subject: "Hello", Text: "Text."}
			c.change(&o)
			raw, err := o.Build()
			require.Nil(t, raw)
			require.ErrorIs(t, err, c.err)
			var field *mime.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, c.field, field.Field)
			require.NotContains(t, err.Error(), "\n", "an error is one line, whatever it quotes")
		})
	}
}

func TestBuildNeedsRecipient(t *testing.T) {
	_, err := (&mime.Outgoing{From: []mime.Address{ada}, Text: "x"}).Build()
	require.ErrorIs(t, err, mime.ErrNoRecipient)
	for name, o := range map[string]mime.Outgoing{
		"cc and text":        {Cc: []mime.Address{bob}, Text: "x"},
		"bcc and HTML":       {Bcc: []mime.Address{bob}, HTML: "x"},
		"to and attachment":  {To: []mime.Address{bob}, Attachments: []mime.Attachment{{}}},
		"no subject, no ids": {To: []mime.Address{bob}, Text: "x"},
		"no content":         {To: []mime.Address{bob}},
	} {
		o.From = []mime.Address{ada}
		_, err := o.Build()
		require.NoError(t, err, name)
	}
	_, err = (&mime.Outgoing{Draft: true}).Build()
	require.NoError(t, err)
}

// A message that contains what was built before must not be cut by the boundaries of its own.
func TestBuildAroundBuilt(t *testing.T) {
	o := mime.Outgoing{From: []mime.Address{ada}, To: []mime.Address{bob}, Subject: "Fwd", Text: "x", HTML: "<p>x"}
	for range 5 {
		raw, err := o.Build()
		require.NoError(t, err)
		o.Attachments = []mime.Attachment{{Filename: "forwarded.eml", ContentType: "message/rfc822", Content: raw}}
	}
	raw, err := o.Build()
	require.NoError(t, err)
	m, err := mime.ParseBytes(raw, nil)
	require.NoError(t, err)
	depth := 0
	for ; len(m.Attachments) == 1; depth++ {
		require.Equal(t, "x", m.Text)
		m = m.Attachments[0].Message
	}
	require.Equal(t, 5, depth)
}

// Quoting doubles backslashes; a name full of them must not make a line too long.
func TestBuildLongName(t *testing.T) {
	o := mime.Outgoing{From: []mime.Address{{Name: strings.Repeat(`\`, 890), Email: "ada@example.com"}},
		To: []mime.Address{bob}, Text: "x"}
	raw, err := o.Build()
	require.NoError(t, err)
	requireLines(t, raw)
	m, err := mime.ParseBytes(raw, nil)
	require.NoError(t, err)
	require.Equal(t, o.From, m.From)
}

// A line that was folded already is folded again, also where it is shorter than the name of its field.
func TestBuildLongAddresses(t *testing.T) {
	long := mime.Address{Name: "\u00c4", Email: strings.Repeat("a", 50) + "@example.com"}
	raw, err := (&mime.Outgoing{From: []mime.Address{bob}, To: []mime.Address{bob},
		ReceiptTo: []mime.Address{long, long}, Text: "x"}).Build()
	require.NoError(t, err)
	requireLines(t, raw)
}

func TestRawURL(t *testing.T) {
	require.Equal(t, "-_8", mime.RawURL([]byte{0xfb, 0xff}))
}

// A group may be the last in its field, and an object in another charset is no calendar.
func TestBuildGroupAtTheEnd(t *testing.T) {
	o := mime.Outgoing{
		From: []mime.Address{bob}, To: []mime.Address{bob, {Group: "Friends", Email: "a@example.org"},
			{Group: "Friends", Email: "b@example.org"}}, Text: "x\n",
	}
	raw, err := o.Build()
	require.NoError(t, err)
	require.Contains(t, string(raw), "Friends: a@example.org, b@example.org;\r\n")
	m, err := mime.Parse(strings.NewReader(string(raw)), nil)
	require.NoError(t, err)
	require.Empty(t, m.Defects)
	require.Equal(t, o.To, m.To)
	o.Calendar = &mime.Calendar{Text: strings.Replace(invitation, "\u00e9", "\xe9", 1)}
	_, err = o.Build()
	require.ErrorIs(t, err, mime.ErrInvalid)
	require.ErrorContains(t, err, "Calendar.Text")
}
