package mime

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Build returns the message in the form of RFC 5322 and MIME (RFC 2045 to 2049). Lines end in CRLF and have at most
// 998 bytes, or 76 with an encoded-word. Everything outside ASCII is encoded, except the addresses of a message for
// SMTPUTF8.
//
// The same Outgoing always gives the same bytes. The caller sets Date and MessageID. Boundaries are a hash of the
// content, which also keeps them from occurring in it.
//
// The errors are [ErrNoRecipient], [*FieldError], and those of opening attachments.
func (o *Outgoing) Build() ([]byte, error) {
	var out bytes.Buffer
	out.Grow(o.size())
	if _, err := o.WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// size estimates the length of the message without the files that are opened.
func (o *Outgoing) size() int {
	const perField, perPart = 100, 300
	n := 20*perField + 2*len(o.Text) + 2*len(o.HTML) + 2*len(o.Returned)
	for i := range o.Attachments {
		encoded := (len(o.Attachments[i].Content) + 2) / 3 * 4
		n += perPart + encoded + 2*(encoded/softLine+1)
	}
	return n
}

// WriteTo writes the bytes that Build returns. It reads opened files while it writes, through a small buffer. The
// errors are those of Build and of w; a FieldError is returned before anything is written.
func (o *Outgoing) WriteTo(w io.Writer) (int64, error) {
	if err := o.validate(); err != nil {
		return 0, err
	}
	root := o.entity()
	hash := sha256.New()
	fields := o.fields()
	for _, field := range fields {
		hash.Write(field)
	}
	if err := root.prepare(hash, o.Boundary); err != nil {
		return 0, err
	}
	base := o.Boundary
	if base == "" {
		base = hex.EncodeToString(hash.Sum(nil))[:32]
	}
	root.nameBoundaries(base)
	counted := &countingWriter{w: w}
	out := bufio.NewWriterSize(counted, 32<<10)
	_, err := out.Write(append(bytes.Join(fields, nil), root.head()...))
	if err == nil {
		err = root.writeBody(out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return counted.n, fmt.Errorf("mime: build message: %w", err)
	}
	return counted.n, nil
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// fields are the header fields of the message itself.
func (o *Outgoing) fields() (fields [][]byte) {
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, fold(name, value))
		}
	}
	for _, list := range o.addressLists() {
		if list.header != "Bcc" || !o.OmitBcc {
			add(list.header, o.encodeAddresses(list.addresses, wordRoom(list.header)))
		}
		if list.header == "From" && (o.Sender != Address{}) {
			add("Sender", o.encodeAddresses([]Address{o.Sender}, wordRoom("Sender")))
		}
	}
	add("Subject", encodeText(o.Subject, wordRoom("Subject")))
	if !o.Date.IsZero() {
		add("Date", o.Date.Format(dateLayout))
	}
	add("Message-ID", encodeIDs(o.writable(o.MessageID)...))
	add("In-Reply-To", encodeIDs(o.writable(o.InReplyTo)...))
	add("References", encodeIDs(o.writable(o.References...)...))
	add("List-Unsubscribe", encodeLinks(o.ListUnsubscribe))
	if o.OneClick {
		add("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	for _, f := range o.Header {
		fields = append(fields, fold(f.Name, o.encodeValue(f)))
	}
	return append(fields, fold("MIME-Version", "1.0"))
}

// dateLayout is the date form of RFC 5322, section 3.3.
const dateLayout = "Mon, 02 Jan 2006 15:04:05 -0700"

// encodeValue encodes the value of an additional field.
func (o *Outgoing) encodeValue(f Field) string {
	if isAddressField(f.Name) {
		addresses, _ := ParseAddresses(f.Value)
		return o.encodeAddresses(addresses, wordRoom(f.Name))
	}
	return encodeText(f.Value, wordRoom(f.Name))
}

// writable leaves out ids that are not ASCII, which ids must be (RFC 5322, section 3.6.4), except in a message that is
// written in UTF-8.
func (o *Outgoing) writable(ids ...string) []string {
	if o.SMTPUTF8 {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), isForeign)
}

func isForeign(id string) bool {
	return strings.ContainsFunc(id, func(r rune) bool { return r >= 0x80 })
}

func encodeIDs(ids ...string) string {
	var out []string
	for _, id := range ids {
		if id = cleanID(id); id != "" {
			out = append(out, "<"+id+">")
		}
	}
	return strings.Join(out, " ")
}

func encodeLinks(links []string) string {
	var out []string
	for _, link := range links {
		out = append(out, "<"+link+">")
	}
	return strings.Join(out, ", ")
}
