package mime

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"mime/quotedprintable"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An entity is a node of the message that is built: a multipart, or a leaf.
type entity struct {
	contentType string // with parameters
	encoding    string
	disposition string
	contentID   string

	// open returns the content of a leaf. A text is written with CRLF at the ends of its lines.
	open   func() (io.ReadCloser, error)
	isText bool
	// asIs marks content that must not be encoded unless it cannot be sent otherwise, which prepare finds out.
	asIs bool

	parts    []*entity
	boundary string
}

// entity assembles the content: mixed(alternative(text, related(html, inline…), calendar), attachments…). It leaves
// out unneeded levels.
func (o *Outgoing) entity() *entity {
	var related, attached []*entity
	for i := range o.Attachments {
		a := &o.Attachments[i]
		if a.Inline && a.ContentID != "" && o.HTML != "" {
			related = append(related, a.entity(i))
		} else {
			attached = append(attached, a.entity(i))
		}
	}
	var bodies []*entity
	if o.Text != "" {
		bodies = append(bodies, textEntity("text/plain", o.Text))
	}
	if o.HTML != "" {
		bodies = append(bodies, multipart("related", append([]*entity{textEntity("text/html", o.HTML)}, related...)))
	}
	if o.Calendar != nil {
		bodies = append(bodies, o.Calendar.entity())
	}
	switch {
	case o.Bounce != nil || o.Receipt != nil:
		if len(bodies) == 0 {
			bodies = append(bodies, textEntity("text/plain", ""))
		}
		return o.reportEntity(multipart("alternative", bodies))
	case len(bodies) > 0:
		attached = append([]*entity{multipart("alternative", bodies)}, attached...)
	case len(attached) == 0:
		return textEntity("text/plain", "")
	case len(attached) == 1:
		return &entity{contentType: "multipart/mixed", parts: attached} // so that a message is never a bare file
	}
	return multipart("mixed", attached)
}

// multipart joins parts. A single part needs no multipart.
func multipart(subtype string, parts []*entity) *entity {
	if len(parts) == 1 {
		return parts[0]
	}
	return &entity{contentType: "multipart/" + subtype, parts: parts}
}

// textEntity chooses the encoding of a text: none for ASCII in short enough lines, otherwise the shorter of the two.
func textEntity(contentType, text string) *entity {
	e := &entity{contentType: contentType + "; charset=utf-8", isText: true, open: opener([]byte(text))}
	high := countHigh([]byte(text))
	switch {
	case high == 0 && fitsLines(text):
		e.encoding = "7bit"
	case high > len(text)/6: // three bytes for each high one are more than four for each three
		e.encoding = "base64"
	default:
		e.encoding = "quoted-printable"
	}
	return e
}

func (c *Calendar) entity() *entity {
	contentType := "text/calendar"
	if method, found := c.objectMethod(); found {
		contentType += "; method=" + method
	}
	return textEntity(contentType, c.Text)
}

func opener(content []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
}

// entity encodes every file as base64, so that no byte of it changes on the way.
//
// Messages must not be encoded (RFC 2046, section 5.2.1), and are encoded only if they cannot be sent otherwise.
func (a *Attachment) entity(index int) *entity {
	e := &entity{
		contentType: contentType(a.ContentType), contentID: encodeIDs(a.ContentID), disposition: "attachment",
		encoding: "base64",
	}
	if a.Inline {
		e.disposition = "inline"
	}
	if a.Filename != "" {
		e.disposition += "; " + encodeParam("filename", a.Filename)
	}
	e.asIs = strings.HasPrefix(e.contentType, "message/")
	open := a.Open
	if open == nil {
		open = opener(a.Content)
	}
	e.open = func() (io.ReadCloser, error) {
		content, err := open()
		if err != nil {
			return nil, fmt.Errorf("open Attachments[%d]: %w", index, err)
		}
		return content, nil
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

// fitsLines reports whether a text can be sent without an encoding (RFC 2045, section 2.7).
func fitsLines(text string) bool {
	if strings.IndexByte(text, 0) >= 0 {
		return false
	}
	for text != "" {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		if end > maxLine {
			return false
		}
		text = text[min(len(text), end+1):]
	}
	return true
}

func contentType(value string) string {
	name, params, _ := parseParams(cmp.Or(value, "application/octet-stream"), maxItems, nil)
	parts := []string{name}
	for _, param := range slices.Sorted(maps.Keys(params)) {
		parts = append(parts, encodeParam(param, params[param]))
	}
	return strings.Join(parts, "; ")
}

// prepare feeds the hash of the boundaries with all content in which a boundary could occur. Base64 and
// quoted-printable have no "=_" in them. It examines messages, which may be large, and chooses their encoding.
func (e *entity) prepare(sum hash.Hash, boundary string) error {
	for _, part := range e.parts {
		if err := part.prepare(sum, boundary); err != nil {
			return err
		}
	}
	sum.Write([]byte(e.contentType + e.disposition + e.contentID))
	if !e.isText && !e.asIs || e.open == nil {
		return nil
	}
	content, err := e.open()
	if err != nil {
		return fmt.Errorf("mime: build message: %w", err)
	}
	scan := scanner{boundary: "--=_" + boundary, sum: sum}
	if err = errors.Join(scan.read(content), content.Close()); err != nil {
		return fmt.Errorf("mime: build message: %w", err)
	}
	if e.asIs && scan.fits {
		e.isText, e.encoding = true, "7bit"
		if scan.high {
			e.encoding = "8bit"
		}
	}
	if isIdentity(e.encoding) && boundary != "" && scan.hasBoundary {
		return &FieldError{Field: "Boundary", Err: fmt.Errorf("%w: it occurs in the content", ErrInvalid)}
	}
	return nil
}

// A scanner examines a text without storing it.
type scanner struct {
	boundary string
	sum      hash.Hash

	fits, high, hasBoundary bool
}

func (s *scanner) read(r io.Reader) error {
	s.fits = true
	in := bufio.NewReaderSize(io.TeeReader(r, s.sum), 4096)
	for length := 0; ; {
		line, err := in.ReadSlice('\n')
		s.high = s.high || countHigh(line) > 0
		s.hasBoundary = s.hasBoundary || length == 0 && bytes.HasPrefix(line, []byte(s.boundary))
		length += len(bytes.TrimRight(line, "\r\n"))
		s.fits = s.fits && length <= maxLine && bytes.IndexByte(line, 0) < 0
		switch {
		case err == nil:
			length = 0
		case errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// nameBoundaries gives each multipart its own boundary.
func (e *entity) nameBoundaries(base string) {
	n := 0
	var name func(e *entity)
	name = func(e *entity) {
		if len(e.parts) > 0 {
			n++
			e.boundary = "=_" + base + "." + strconv.Itoa(n)
			e.contentType += `; boundary="` + e.boundary + `"`
		}
		for _, part := range e.parts {
			name(part)
		}
	}
	name(e)
}

// head returns the header of a part, with the blank line after it.
func (e *entity) head() []byte {
	var head []byte
	for _, f := range []struct{ name, value string }{
		{"Content-Type", e.contentType},
		{"Content-Transfer-Encoding", e.encoding},
		{"Content-Disposition", e.disposition},
		{"Content-ID", e.contentID},
	} {
		if f.value != "" {
			head = append(head, fold(f.name, f.value)...)
		}
	}
	return append(head, "\r\n"...)
}

func (e *entity) writeBody(out io.Writer) error {
	if len(e.parts) == 0 {
		return e.writeLeaf(out)
	}
	delimiter := "--" + e.boundary
	for _, part := range e.parts {
		if _, err := io.WriteString(out, delimiter+"\r\n"+string(part.head())); err != nil {
			return err
		}
		if err := part.writeBody(out); err != nil {
			return err
		}
		delimiter = "\r\n--" + e.boundary
	}
	_, err := io.WriteString(out, delimiter+"--\r\n")
	return err
}

// writeLeaf encodes the content while it is read.
func (e *entity) writeLeaf(out io.Writer) error {
	content, err := e.open()
	if err != nil {
		return err
	}
	encoded := out
	closeEncoder := func() error { return nil }
	switch e.encoding {
	case "base64":
		w := base64.NewEncoder(base64.StdEncoding, &lineWriter{w: out})
		encoded, closeEncoder = w, w.Close
	case "quoted-printable":
		w := quotedprintable.NewWriter(out)
		encoded, closeEncoder = w, w.Close
	}
	if e.isText {
		encoded = &crlfWriter{w: encoded}
	}
	_, err = io.Copy(struct{ io.Writer }{encoded}, struct{ io.Reader }{content}) // through a buffer, not in one piece
	return errors.Join(err, content.Close(), closeEncoder())
}
