package mime

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/postroom-go/postroom/mime/charset"
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
	Disposition string            // "inline", "attachment" or another word in lower case; empty if not given
	// Filename is the file's name as the sender gave it, decoded (RFC 2231, RFC 2047); empty if there is none. It may
	// contain slashes, dots and anything else: never use it as a path.
	Filename  string
	ContentID string // without angle brackets (RFC 2392)

	// Content is the sender's content without its transfer encoding; its length is the size of the file. It may share
	// memory with the raw message and must not be changed. A multipart has none.
	Content []byte
	Parts   []*Part
	// Message is the attached message of message/rfc822 and message/global; Content is its raw form.
	Message *Message

	encoding string
	opaque   bool
	// undecoded reports that a transfer encoding was declared and could not be removed, and that the
	// content is not plain words either.
	undecoded bool
	reported  bool // within a multipart/report, behind its text
	finder    *charset.Finder
}

func newPart(header Header, r reporter, defaultType string, m *meter) *Part {
	p := &Part{
		Path: r.part, Header: header, encoding: encodingName(header.raw("Content-Transfer-Encoding")), finder: m.finder,
	}
	parse := func(field string) (value string, params map[string]string) {
		raw, words := header.undecoded(field)
		value, params, ok := parseParams(raw, m.items(), words)
		if !ok {
			r.report(ParameterBroken, field, raw)
		}
		m.headerFields += len(params)
		return value, params
	}
	value, params := parse("Content-Type")
	p.ContentType, p.Params = mediaType(value, defaultType), params
	raw := header.raw("Content-Type")
	kind, _, isEncoded := strings.Cut(raw, "=?")
	if isEncoded = isEncoded && !strings.ContainsAny(kind, "=;(\""); isEncoded {
		p.ContentType = encodedType(raw)
	}
	disposition, dispositionParams := parse("Content-Disposition")
	p.Disposition = disposition
	p.Filename = cmp.Or(dispositionParams["filename"], params["name"])
	switch {
	case p.ContentType == "":
		r.report(ParameterBroken, "Content-Type", value)
		p.ContentType = untyped(p.Filename)
	case value == "" && len(params) > 0 && !isEncoded:
		// QUIRK: "Content-Type: ; name=x.zip" has parameters and no type. Sample: content-type-none.
		r.report(ParameterBroken, "Content-Type", raw)
		p.ContentType = untyped(p.Filename)
	}
	p.ContentID = first(parseMessageIDs(header.raw("Content-ID"), 1))
	return p
}

// encodedType returns the type of a Content-Type that is written in encoded-words, without parameters: that of a file
// unless it is a text.
//
// QUIRK: programs that cannot read the parameters encode the whole field, or a part of it. Sample: 55-ct-all-encoded.
func encodedType(raw string) string {
	decoded, _ := decodeWords(raw, nil)
	value, _, _ := strings.Cut(decoded, ";")
	if kind := mediaType(value, ""); strings.HasPrefix(kind, "text/") {
		return kind
	}
	return "application/octet-stream"
}

// mediaType returns the type of a Content-Type; empty if it has none.
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
	case kind == "application", kind == "image", kind == "audio", kind == "video":
		return "application/octet-stream"
	default:
		return ""
	}
}

// untyped returns the type of a part without a valid Content-Type: text, so that it is visible (RFC 2045, section
// 5.2), or application/octet-stream for a file.
func untyped(filename string) string {
	if filename == "" {
		return "text/plain"
	}
	return "application/octet-stream"
}

// token cuts s before the first character that is not part of a token (RFC 2045, section 5.1).
func token(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return !isTokenRune(r) }); i >= 0 {
		s = s[:i]
	}
	return s
}

func isTokenRune(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune("()<>@,;:\\\"/[]?=", r)
}

// IsMultipart reports whether the part consists of parts. An opaque multipart does not.
func (p *Part) IsMultipart() bool { return !p.opaque && strings.HasPrefix(p.ContentType, "multipart/") }

// IsOpaque reports whether the part is a multipart or a message that was not opened, or the rest of a multipart,
// because of the [Limits] or a [NotOpened]. Its Content is unchanged and includes its parts. It counts as an
// attachment.
func (p *Part) IsOpaque() bool { return p.opaque }

func (p *Part) isMessage() bool {
	return p.ContentType == "message/rfc822" || p.ContentType == "message/global"
}

// defaultType returns the default type of the parts within p (RFC 2046, section 5.1.5).
func (p *Part) defaultType() string {
	if p.ContentType == "multipart/digest" {
		return "message/rfc822"
	}
	return "text/plain"
}

// setContent removes the transfer encoding. A text includes the text after its base64, which is a list's footer.
func (p *Part) setContent(body []byte, r reporter) {
	content, tail, problem := decodeTransfer(body, p.encoding)
	if problem != "" {
		r.report(problem, "Content-Transfer-Encoding", p.encoding)
		p.undecoded = bytes.Equal(bytes.TrimSpace(content), bytes.TrimSpace(body)) && p.encoding != "quoted-printable" &&
			(p.encoding != "base64" || !readsAsWords(content))
	}
	if strings.HasPrefix(p.ContentType, "text/") && len(tail) > 0 {
		if !bytes.HasSuffix(content, []byte{'\n'}) {
			content = append(content, '\n')
		}
		content = append(content, tail...)
	}
	p.Content = content
}

// Text returns the content as UTF-8 with lines ending in LF. Each paragraph that was broken for transport (RFC 3676,
// format=flowed) is one line. It is meant for text types. Bytes that are invalid in the charset are replaced, never
// left out. The charset is the declared one, unless the text cannot be in it.
func (p *Part) Text() string {
	text, _ := p.shownText()
	return text.String()
}

func (p *Part) shownText() (shownText, charset.Problem) {
	name := p.Params["charset"]
	if name == "" && p.ContentType == "text/html" {
		name = charset.HTML(p.Content)
	}
	found, problem := p.finder.Find(p.Content, name)
	content := p.Content
	if p.ContentType == "text/plain" && strings.EqualFold(p.Params["format"], "flowed") {
		content = unflow(content, strings.EqualFold(p.Params["delsp"], "yes"))
	}
	return shownText{content: content, charset: found}, problem
}
