package rulesfile

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
)

// A testMail is the message of a test as a file describes it. It is formatted and parsed again like mail from
// outside, so that a test sees what the rules will see.
type testMail struct {
	raw     []byte // of an .eml file
	header  []postroom.Header
	body    string
	html    string
	files   []postroom.Attachment
	account string
	labels  []string

	received      time.Time
	size          int64
	authenticated bool
	senderSeen    bool
	past          rules.Past
}

// ownKeys are the keys that also apply to a message from a file.
var ownKeys = []string{"account", "received", "headers", "labels", "size", "authenticated", "sender_seen",
	"sender_written_to", "i_wrote", "they_wrote"}

// addressKeys are the header fields of keys that hold addresses.
var addressKeys = []struct{ key, field string }{
	{"from", "From"}, {"reply_to", "Reply-To"}, {"to", "To"}, {"cc", "Cc"}, {"bcc", "Bcc"},
}

func (p *fileParser) testMail(n ast.Node, spec *testMail, fromFile bool) {
	keys := messageKeys
	if fromFile {
		keys = ownKeys
	}
	m := p.mapping(n, "a message", keys)
	if m == nil {
		return
	}
	for _, a := range addressKeys {
		if n, ok := m.values[a.key]; ok {
			p.testField(n, spec, a.field, strings.Join(p.texts(n, a.key), ", "))
		}
	}
	text := func(key string, set func(string)) {
		if n, ok := m.values[key]; ok {
			if value, ok := p.text(n, key); ok {
				set(value)
			}
		}
	}
	text("subject", func(s string) { p.testField(m.values["subject"], spec, "Subject", s) })
	text("account", func(s string) { spec.account = s })
	text("body", func(s string) { spec.body = s })
	text("html", func(s string) { spec.html = s })
	if n, ok := m.values["date"]; ok {
		p.testField(n, spec, "Date", p.instant(n, "date").Format(time.RFC1123Z))
	}
	if n, ok := m.values["received"]; ok {
		spec.received = p.instant(n, "received")
	}
	text("size", func(s string) {
		var err error
		if spec.size, err = rules.ParseSize(s); err != nil {
			p.problem(positionOf(m.values["size"]), err.Error(), rules.SizeHint)
		}
	})
	p.testMailLists(m, spec)
}

func (p *fileParser) testMailLists(m *mapping, spec *testMail) {
	if n, ok := m.values["headers"]; ok {
		if given := p.mapping(n, "headers", nil); given != nil {
			for _, name := range given.keys {
				for _, value := range p.texts(given.values[name], "a header field") {
					p.testField(given.values[name], spec, name, value)
				}
			}
		}
	}
	if n, ok := m.values["labels"]; ok {
		spec.labels = p.texts(n, "labels")
	}
	if n, ok := m.values["attachments"]; ok {
		for _, entry := range p.list(n, "attachments") {
			spec.files = append(spec.files, p.testAttachment(entry))
		}
	}
	if n, ok := m.values["authenticated"]; ok {
		spec.authenticated = p.boolean(n, "authenticated")
	}
	if n, ok := m.values["sender_seen"]; ok {
		spec.senderSeen = p.boolean(n, "sender_seen")
	}
	if n, ok := m.values["sender_written_to"]; ok {
		spec.past.WrittenTo = p.boolean(n, "sender_written_to")
	}
	if n, ok := m.values["i_wrote"]; ok {
		spec.past.Mine = p.instant(n, "i_wrote")
	}
	if n, ok := m.values["they_wrote"]; ok {
		spec.past.Theirs = p.instant(n, "they_wrote")
	}
}

// testField adds a header field, which must be one line.
func (p *fileParser) testField(n ast.Node, spec *testMail, name, value string) {
	if e := rules.CheckHeader("", name); e != nil || name == "" {
		p.problem(positionOf(n), fmt.Sprintf("%q is no header name", name),
			"write it without colon and blanks, as in List-Id")
		return
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		p.problem(positionOf(n), "the value of a header field has several lines", "write one line")
		return
	}
	spec.header = append(spec.header, postroom.Header{Name: name, Value: value})
}

var attachmentKeys = []string{"name", "type"}

// testAttachment reads the name of a file, or a mapping with its type.
func (p *fileParser) testAttachment(n ast.Node) postroom.Attachment {
	a := postroom.Attachment{ContentType: "application/octet-stream"}
	name := n
	if _, isText := textOfNode(n); !isText {
		if name = p.attachmentMapping(n, &a); name == nil {
			return a
		}
	}
	a.Filename, _ = p.text(name, "the name of an attachment")
	if strings.ContainsFunc(a.Filename, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		p.problem(positionOf(name), fmt.Sprintf("%q is no name of a file", a.Filename),
			"write it without quotes and backslashes")
	}
	return a
}

// attachmentMapping reads the type of a file and returns its name; nil if there is none, which is then reported.
func (p *fileParser) attachmentMapping(n ast.Node, a *postroom.Attachment) (name ast.Node) {
	m := p.mapping(n, "an attachment", attachmentKeys)
	if m == nil {
		return nil
	}
	if kind, ok := m.values["type"]; ok {
		a.ContentType, _ = p.text(kind, "type")
		if !mediaType(a.ContentType) {
			p.problem(positionOf(kind), fmt.Sprintf("%q is no media type", a.ContentType), "write it as application/pdf")
		}
	}
	name, ok := m.values["name"]
	if !ok {
		p.problem(m.at, "the attachment has no name", "write name: and that of a file")
		return nil
	}
	return name
}

func mediaType(text string) bool {
	main, sub, ok := strings.Cut(text, "/")
	return ok && main != "" && sub != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == ';' || r == '"'
	})
}

// bytes writes the message.
func (spec *testMail) bytes() []byte {
	var b bytes.Buffer
	if spec.authenticated {
		from := spec.sender()
		fmt.Fprintf(&b, "Received: from mail.%s by %s with ESMTPS; Thu, 1 Jan 2026 00:00:00 +0000\r\n", from,
			rules.GmailServer.ID)
		fmt.Fprintf(&b, "Authentication-Results: %s; dmarc=pass header.from=%s\r\n", rules.GmailServer.ID, from)
	}
	for _, h := range spec.header {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	if spec.raw != nil {
		b.Write(spec.raw)
		return b.Bytes()
	}
	b.WriteString("MIME-Version: 1.0\r\n")
	if len(spec.files) == 0 {
		spec.writeTexts(&b)
		return b.Bytes()
	}
	const boundary = "=_parts" // no line of base64 begins with it
	b.WriteString("Content-Type: multipart/mixed; boundary=\"" + boundary + "\"\r\n\r\n--" + boundary + "\r\n")
	spec.writeTexts(&b)
	for _, a := range spec.files {
		fmt.Fprintf(&b, "\r\n--%s\r\nContent-Type: %s\r\nContent-Disposition: attachment; filename=\"%s\"\r\n\r\n",
			boundary, a.ContentType, a.Filename)
	}
	b.WriteString("\r\n--" + boundary + "--\r\n")
	return b.Bytes()
}

// writeTexts writes the body or both bodies, with the header fields that belong to them.
func (spec *testMail) writeTexts(b *bytes.Buffer) {
	part := func(subtype, text string) {
		fmt.Fprintf(b, "Content-Type: text/%s; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n%s\r\n", subtype,
			base64.StdEncoding.EncodeToString([]byte(text)))
	}
	switch {
	case spec.html == "":
		part("plain", spec.body)
	case spec.body == "":
		part("html", spec.html)
	default:
		const boundary = "=_texts"
		b.WriteString("Content-Type: multipart/alternative; boundary=\"" + boundary + "\"\r\n\r\n--" + boundary + "\r\n")
		part("plain", spec.body)
		b.WriteString("\r\n--" + boundary + "\r\n")
		part("html", spec.html)
		b.WriteString("\r\n--" + boundary + "--\r\n")
	}
}

// sender is the domain that the message says to be from.
func (spec *testMail) sender() string {
	var b bytes.Buffer
	for _, h := range spec.header {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	b.Write(spec.raw)
	parsed, err := mime.ParseBytes(b.Bytes(), nil)
	if err != nil || len(parsed.From) == 0 {
		return ""
	}
	return rules.DomainOf(parsed.From[0].Email)
}

// message returns the parsed message with the fields that only its provider knows.
func (spec *testMail) message(parsed *mime.Message) *postroom.Message {
	msg := readmail.Message(parsed)
	msg.AccountID, msg.LabelIDs = spec.account, postroom.NewSnapshot(spec.labels).LabelIDs
	if spec.raw == nil || spec.size != 0 {
		msg.Size = spec.size
	}
	switch msg.ReceivedAt = spec.received; {
	case !spec.received.IsZero():
	case !parsed.Date.IsZero():
		msg.ReceivedAt = msg.Date
	default:
		msg.ReceivedAt = defaultTestTime
	}
	return msg
}
