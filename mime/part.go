package mime

import (
	"cmp"
	"strings"
)

// A Part is one node of a message's structure (RFC 2045, section 2.5): a multipart with parts of its own, an attached
// message, or a leaf with content.
type Part struct {
	// Path numbers the part within its message, as IMAP does (RFC 9051, section 6.4.5): "1.2" is the second part of the
	// first. It is empty for the root.
	Path   string
	Header Header

	ContentType string            // media type in lower case, without parameters; never empty
	Params      map[string]string // of Content-Type (RFC 2231), names in lower case
	Disposition string            // "inline", "attachment" or another word in lower case; empty when not said
	// Filename is the sender's name of the file, decoded (RFC 2231, RFC 2047); empty if there is none. It may hold
	// slashes, dots and anything else: never use it as a path.
	Filename  string
	ContentID string // without angle brackets (RFC 2392)

	// Content is the content without its transfer encoding, as the sender had it; its length is the size of the file. It may
	// share memory with the raw message: do not change it. A multipart has none.
	Content []byte
	Parts   []*Part
	// Message is the attached message of message/rfc822 and message/global; Content is its raw form.
	Message *Message

	encoding string
}

func newPart(header Header, r reporter, defaultType string) *Part {
	p := &Part{Path: r.part, Header: header, encoding: encodingName(header.raw("Content-Transfer-Encoding"))}
	value, params, ok := parseParams(header.raw("Content-Type"))
	if !ok {
		r.report(ParameterBroken, "Content-Type", header.raw("Content-Type"))
	}
	p.ContentType, p.Params = mediaType(value, defaultType), params
	disposition, dispositionParams, ok := parseParams(header.raw("Content-Disposition"))
	if !ok {
		r.report(ParameterBroken, "Content-Disposition", header.raw("Content-Disposition"))
	}
	p.Disposition = disposition
	p.Filename = cmp.Or(dispositionParams["filename"], params["name"])
	if p.ContentType == "" {
		r.report(ParameterBroken, "Content-Type", value)
		p.ContentType = untyped(p.Filename)
	}
	if ids := ParseMessageIDs(header.raw("Content-ID")); len(ids) > 0 {
		p.ContentID = ids[0]
	}
	return p
}

// mediaType makes a type of what Content-Type says; empty when it says nothing that is one.
//
// QUIRK: "text", "multipart" and "text/plain>" occur. Sample: content-type-odd.
func mediaType(value, defaultType string) string {
	if value == "" {
		return defaultType
	}
	kind, subtype, _ := strings.Cut(value, "/")
	kind, subtype = token(kind), token(subtype)
	switch {
	case kind != "" && subtype != "":
		return kind + "/" + subtype
	case kind == "text":
		return "text/plain"
	case kind == "html":
		return "text/html"
	case kind == "multipart":
		return "multipart/mixed"
	default:
		return ""
	}
}

// untyped is the type of a part whose Content-Type is none: text, so that it is seen (RFC 2045, section 5.2), but for
// a file, which may be anything.
func untyped(filename string) string {
	if filename == "" {
		return "text/plain"
	}
	return "application/octet-stream"
}

// token cuts s before the first character that is none of a token (RFC 2045, section 5.1).
func token(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return !isTokenRune(r) }); i >= 0 {
		s = s[:i]
	}
	return s
}

func isTokenRune(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune("()<>@,;:\\\"/[]?=", r)
}

// IsMultipart reports whether the part consists of parts.
func (p *Part) IsMultipart() bool { return strings.HasPrefix(p.ContentType, "multipart/") }

func (p *Part) isMessage() bool {
	return p.ContentType == "message/rfc822" || p.ContentType == "message/global"
}

// defaultType is that of the parts within p (RFC 2046, section 5.1.5).
func (p *Part) defaultType() string {
	if p.ContentType == "multipart/digest" {
		return "message/rfc822"
	}
	return "text/plain"
}

func (p *Part) setContent(body []byte, r reporter) {
	var problem DefectKind
	if p.Content, problem = decodeTransfer(body, p.encoding); problem != "" {
		r.report(problem, "Content-Transfer-Encoding", p.encoding)
	}
}

// Text is the content as UTF-8 with lines ending in LF. It is meant for text types; bytes that are no text of the
// declared charset are replaced, never left out.
func (p *Part) Text() string {
	text, _ := p.text()
	return text
}

func (p *Part) text() (text string, problem DefectKind) {
	charset := p.Params["charset"]
	if charset == "" && p.ContentType == "text/html" {
		charset = sniffHTML(p.Content)
	}
	text, problem = decodeText(p.Content, charset)
	return strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n"), problem
}
