package rawmail

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/quotedprintable"
	"regexp"
	"strings"
)

// The bounds of the tree of parts. A part beyond them is not split, and its body includes the rest.
const (
	maxDepth = 50
	maxParts = 2000
)

// A Part is a message or a part of one (RFC 2045, section 2.4). Its slices point into the message.
type Part struct {
	Header Header
	Type   string // the media type in lower case; text/plain if there is none
	Params map[string]string
	Body   []byte // still encoded; empty if there are Parts
	Parts  []*Part
}

// Parse parses the tree of parts of a message.
func Parse(raw []byte) *Part {
	left := maxParts
	return parse(raw, 0, &left)
}

func parse(raw []byte, depth int, left *int) *Part {
	*left--
	p := &Part{}
	p.Header, p.Body = Split(raw)
	p.Type, p.Params = mediaType(p.Header.Get("Content-Type"))
	if depth >= maxDepth {
		return p
	}
	switch {
	case strings.HasPrefix(p.Type, "multipart/"):
		for _, section := range sections(p.Body, p.Params["boundary"]) {
			if *left > 0 {
				p.Parts = append(p.Parts, parse(section, depth+1, left))
			}
		}
	case p.Type == "message/rfc822" && !p.encoded() && *left > 0:
		p.Parts = []*Part{parse(p.Body, depth+1, left)}
	}
	if len(p.Parts) > 0 {
		p.Body = nil
	}
	return p
}

// boundaryParameter matches a likely boundary parameter, with its value in quotation marks or up to the next semicolon.
var boundaryParameter = regexp.MustCompile(`(?is)boundary=(?:"([^"]*)|([^;]*))`)

// mediaType parses a Content-Type or Content-Disposition field.
//
// QUIRK: mail has parameters that the grammar does not permit; then the type and a likely boundary are kept.
func mediaType(value string) (string, map[string]string) {
	t, params, err := mime.ParseMediaType(value)
	if err == nil {
		return t, params
	}
	name, rest, _ := strings.Cut(value, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	if !strings.Contains(name, "/") {
		return "text/plain", nil
	}
	found := boundaryParameter.FindStringSubmatch(rest)
	if found == nil {
		return name, nil
	}
	return name, map[string]string{"boundary": strings.TrimSpace(found[1] + found[2])}
}

// sections splits the body of a multipart (RFC 2046, section 5.1.1). The last part may lack its closing line.
func sections(body []byte, boundary string) [][]byte {
	if boundary == "" {
		return nil
	}
	delimiter := []byte("--" + boundary)
	var found [][]byte
	start := -1
	for at := 0; at < len(body); {
		line, after := cutLine(body[at:])
		next := len(body) - len(after)
		if rest, ok := bytes.CutPrefix(bytes.TrimRight(line, " \t"), delimiter); ok &&
			(len(rest) == 0 || string(rest) == "--") {
			if start >= 0 {
				found = append(found, withoutLineEnd(body[start:at]))
			}
			start = next
			if len(rest) > 0 {
				return found
			}
		}
		at = next
	}
	if start >= 0 && start < len(body) {
		found = append(found, body[start:])
	}
	return found
}

// withoutLineEnd removes the line end before a delimiter, which belongs to the delimiter.
func withoutLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

func (p *Part) encoding() string {
	return strings.ToLower(strings.TrimSpace(p.Header.Get("Content-Transfer-Encoding")))
}

func (p *Part) encoded() bool {
	return p.encoding() == "base64" || p.encoding() == "quoted-printable"
}

// Content returns the body, decoded as far as possible (RFC 2045, section 6).
func (p *Part) Content() []byte {
	switch p.encoding() {
	case "base64":
		return decodeBase64(p.Body)
	case "quoted-printable":
		decoded, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(p.Body)))
		if err != nil {
			return p.Body
		}
		return decoded
	default:
		return p.Body
	}
}

// decodeBase64 skips bytes outside the alphabet, as RFC 2045 requires, and stops at invalid data.
func decodeBase64(body []byte) []byte {
	digits := make([]byte, 0, len(body))
	for _, c := range body {
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '+', c == '/':
			digits = append(digits, c)
		}
	}
	decoded := make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	n, _ := base64.RawStdEncoding.Decode(decoded, digits)
	return decoded[:n]
}

// Filename returns the part's file name from Content-Disposition (RFC 2183), otherwise from Content-Type; empty if it
// has none.
func (p *Part) Filename() string {
	_, disposition := mediaType(p.Header.Get("Content-Disposition"))
	if name := disposition["filename"]; name != "" {
		return DecodeText(name)
	}
	return DecodeText(p.Params["name"])
}

// IsAttachment reports whether the part is an attached file: it has a name or is a message itself, and is not a
// picture that the text shows.
func (p *Part) IsAttachment() bool {
	if p.Type == "message/rfc822" {
		return true
	}
	disposition, _ := mediaType(p.Header.Get("Content-Disposition"))
	shown := strings.HasPrefix(p.Type, "image/") && p.Header.Get("Content-ID") != "" && disposition != "attachment"
	return p.Filename() != "" && !shown
}

// Text returns the content of a text part in UTF-8.
func (p *Part) Text() string { return DecodeCharset(p.Content(), p.Params["charset"]) }
