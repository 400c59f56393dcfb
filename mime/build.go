package mime

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"mime/quotedprintable"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/textproto"
)

// Build writes the message in the form of RFC 5322 and MIME (RFC 2045 to 2049): lines end in CRLF, none is longer than 998
// bytes, and all but ASCII is encoded, except in addresses (RFC 6532).
//
// The same Outgoing always gives the same bytes: boundaries are made of the content, by a hash, which also keeps them
// from occurring in it.
//
// The errors are [ErrNoRecipient], [ErrNoContent] and [*FieldError].
func (o *Outgoing) Build() ([]byte, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	root := o.entity()
	root.nameBoundaries(boundaryOf(root))
	var out bytes.Buffer
	if err := textproto.WriteHeader(&out, header(append(o.fields(), root.fields()...))); err != nil {
		return nil, fmt.Errorf("mime: build message: %w", err)
	}
	if err := root.writeBody(&out); err != nil {
		return nil, fmt.Errorf("mime: build message: %w", err)
	}
	return out.Bytes(), nil
}

// fields are the header fields of the message itself.
func (o *Outgoing) fields() (fields [][]byte) {
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, fold(name, value))
		}
	}
	add("From", encodeAddress(o.From))
	for _, list := range o.addressLists() {
		var addresses []string
		for _, a := range list.addresses {
			addresses = append(addresses, encodeAddress(a))
		}
		add(list.header, strings.Join(addresses, ", "))
	}
	add("Subject", encodeText(o.Subject))
	if !o.Date.IsZero() {
		add("Date", o.Date.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	}
	add("Message-ID", encodeIDs(o.MessageID))
	add("In-Reply-To", encodeIDs(o.InReplyTo))
	add("References", encodeIDs(o.References...))
	for _, f := range o.Header {
		fields = append(fields, fold(f.Name, encodeText(f.Value)))
	}
	return append(fields, fold("MIME-Version", "1.0"))
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

// An entity is a node of the message to be written: a multipart, or a leaf with an encoded body.
type entity struct {
	contentType string // with parameters
	encoding    string
	disposition string
	contentID   string
	body        []byte

	parts    []*entity
	boundary string
}

// entity puts the content together: mixed(alternative(text, related(html, inline…)), attachments…), leaving out what
// there is no need for.
func (o *Outgoing) entity() *entity {
	var related, attached []*entity
	for _, a := range o.Attachments {
		if a.Inline && a.ContentID != "" && o.HTML != "" {
			related = append(related, a.entity())
		} else {
			attached = append(attached, a.entity())
		}
	}
	var bodies []*entity
	if o.Text != "" {
		bodies = append(bodies, textEntity("text/plain", o.Text))
	}
	if o.HTML != "" {
		bodies = append(bodies, multipart("related", append([]*entity{textEntity("text/html", o.HTML)}, related...)))
	}
	if len(bodies) > 0 {
		attached = append([]*entity{multipart("alternative", bodies)}, attached...)
	}
	if len(bodies) == 0 && len(attached) == 1 {
		return &entity{contentType: "multipart/mixed", parts: attached} // so that a mail never is a bare file
	}
	return multipart("mixed", attached)
}

// multipart joins parts; one alone needs no multipart.
func multipart(subtype string, parts []*entity) *entity {
	if len(parts) == 1 {
		return parts[0]
	}
	return &entity{contentType: "multipart/" + subtype, parts: parts}
}

// textEntity chooses the encoding of a text: none for ASCII in lines that may be sent, else whichever is shorter.
func textEntity(contentType, text string) *entity {
	body := crlf([]byte(text))
	e := &entity{contentType: contentType + "; charset=utf-8"}
	high := countHigh(body)
	switch {
	case high == 0 && fitsLines(body):
		e.encoding, e.body = "7bit", body
	case high > len(body)/6: // three bytes for each high one are more than four for each three
		e.encoding, e.body = "base64", base64Lines(body)
	default:
		e.encoding, e.body = "quoted-printable", quotedPrintable(body)
	}
	return e
}

// entity writes files in base64, whatever they are, so that no byte of them changes on the way.
//
// Messages must not be encoded (RFC 2046, section 5.2.1), and are not unless they cannot be sent as they are.
func (a *Attachment) entity() *entity {
	e := &entity{contentType: contentType(a.ContentType), contentID: encodeIDs(a.ContentID), disposition: "attachment"}
	if a.Inline {
		e.disposition = "inline"
	}
	if a.Filename != "" {
		e.disposition += "; " + encodeParam("filename", a.Filename)
	}
	if !strings.HasPrefix(e.contentType, "message/") || !fitsLines(crlf(a.Content)) {
		e.encoding, e.body = "base64", base64Lines(a.Content)
		return e
	}
	e.encoding, e.body = "7bit", crlf(a.Content)
	if countHigh(e.body) > 0 {
		e.encoding = "8bit"
	}
	return e
}

func countHigh(b []byte) (n int) {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

func contentType(value string) string {
	name, params, _ := parseParams(cmp.Or(value, "application/octet-stream"))
	parts := []string{name}
	for _, param := range slices.Sorted(maps.Keys(params)) {
		parts = append(parts, encodeParam(param, params[param]))
	}
	return strings.Join(parts, "; ")
}

// crlf makes all lines end in CRLF.
func crlf(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
}

// fitsLines reports whether a text can be sent without an encoding (RFC 2045, section 2.7).
func fitsLines(b []byte) bool {
	for line := range bytes.Lines(b) {
		if len(trimLineBreak(line)) > maxLine || bytes.IndexByte(line, 0) >= 0 {
			return false
		}
	}
	return true
}

func base64Lines(b []byte) []byte {
	encoded := base64.StdEncoding.EncodeToString(b)
	var out bytes.Buffer
	for len(encoded) > softLine {
		out.WriteString(encoded[:softLine] + "\r\n")
		encoded = encoded[softLine:]
	}
	out.WriteString(encoded)
	return out.Bytes()
}

func quotedPrintable(b []byte) []byte {
	var out bytes.Buffer
	w := quotedprintable.NewWriter(&out)
	_, _ = w.Write(b) // a bytes.Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// boundaryOf makes a boundary that cannot occur in the content, since it is a hash of all of it.
func boundaryOf(root *entity) string {
	hash := sha256.New()
	root.walk(func(e *entity) { hash.Write(e.body) })
	return hex.EncodeToString(hash.Sum(nil))[:32]
}

func (e *entity) walk(visit func(*entity)) {
	visit(e)
	for _, part := range e.parts {
		part.walk(visit)
	}
}

// nameBoundaries gives each multipart its own boundary.
func (e *entity) nameBoundaries(base string) {
	n := 0
	e.walk(func(e *entity) {
		if len(e.parts) > 0 {
			n++
			e.boundary = "=_" + base + "." + strconv.Itoa(n)
			e.contentType += `; boundary="` + e.boundary + `"`
		}
	})
}

// fields are the Content- fields of a part.
func (e *entity) fields() (fields [][]byte) {
	for _, f := range []struct{ name, value string }{
		{"Content-Type", e.contentType},
		{"Content-Transfer-Encoding", e.encoding},
		{"Content-Disposition", e.disposition},
		{"Content-ID", e.contentID},
	} {
		if f.value != "" {
			fields = append(fields, fold(f.name, f.value))
		}
	}
	return fields
}

func (e *entity) writeBody(out *bytes.Buffer) error {
	if len(e.parts) == 0 {
		out.Write(e.body)
		return nil
	}
	w := textproto.NewMultipartWriter(out)
	if err := w.SetBoundary(e.boundary); err != nil {
		return err
	}
	for _, part := range e.parts {
		if _, err := w.CreatePart(header(part.fields())); err != nil {
			return err
		}
		if err := part.writeBody(out); err != nil {
			return err
		}
	}
	return w.Close()
}

// header makes a header of whole fields.
func header(fields [][]byte) textproto.Header {
	var h textproto.Header
	for _, field := range slices.Backward(fields) { // AddRaw puts a field on top
		h.AddRaw(field)
	}
	return h
}
