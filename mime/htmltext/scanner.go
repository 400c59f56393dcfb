package htmltext

import "strings"

// A scanner cuts HTML into tags, texts and comments (WHATWG HTML, section 13.2.5). It does not allocate: its results
// are parts of the source. It looks at each byte a fixed number of times, whatever the markup.
type scanner struct {
	source string
	pos    int

	// The last token. text is the text of a text or comment; name, tag and the attributes are those of a tag.
	text        string
	at          int // offset of text, or of the tag
	isRaw       bool
	name        string // as written
	tag         tagName
	attrs       string // all attributes, as written
	selfClosing bool
	set         attrSet

	raw tagName // the element whose content comes next, if that is not markup
}

type tokenKind uint8

const (
	endOfPage tokenKind = iota
	textToken
	startToken
	endToken
	commentToken
	doctypeToken
)

// next reads one token.
func (s *scanner) next() tokenKind {
	if s.raw != 0 {
		if s.rawText() {
			return textToken
		}
	}
	for s.pos < len(s.source) {
		if length := s.textLength(); length > 0 {
			s.text, s.at, s.isRaw = s.source[s.pos:s.pos+length], s.pos, false
			s.pos += length
			return textToken
		}
		if t := s.markup(); t != endOfPage {
			return t
		}
	}
	return endOfPage
}

// textLength returns the number of bytes before the next markup. A "<" that does not begin markup is text.
func (s *scanner) textLength() int {
	for i := s.pos; ; i++ {
		next := strings.IndexByte(s.source[i:], '<')
		if next < 0 {
			return len(s.source) - s.pos
		}
		i += next
		if i+1 == len(s.source) {
			return i + 1 - s.pos
		}
		if c := s.source[i+1]; isLetter(c) || c == '/' && i+2 < len(s.source) || c == '!' || c == '?' {
			return i - s.pos
		}
	}
}

// markup reads a construct that begins with "<". It returns endOfHTML if that yields no token.
func (s *scanner) markup() tokenKind {
	s.at = s.pos
	rest := s.source[s.pos:]
	switch {
	case isLetter(rest[1]):
		return s.readTag(1, startToken)
	case rest[1] == '/' && isLetter(rest[2]):
		return s.readTag(2, endToken)
	case strings.HasPrefix(rest, "</>"):
		s.pos += len("</>")
		return endOfPage
	case strings.HasPrefix(rest, "<!--"):
		s.comment()
		return commentToken
	case len(rest) > 9 && strings.EqualFold(rest[:9], "<!doctype"):
		s.bogus(9)
		return doctypeToken
	default:
		s.bogus(2)
		return endOfPage
	}
}

// bogus skips markup that ends with the next ">".
func (s *scanner) bogus(skip int) {
	rest := s.source[s.pos+skip:]
	end := strings.IndexByte(rest, '>')
	if end < 0 {
		s.text, s.pos = rest, len(s.source)
		return
	}
	s.text = rest[:end]
	s.pos += skip + end + 1
}

func (s *scanner) comment() {
	begin := s.pos + len("<!--")
	rest := s.source[begin:]
	for _, empty := range []string{">", "->"} {
		if strings.HasPrefix(rest, empty) {
			s.text, s.pos = "", begin+len(empty)
			return
		}
	}
	for i := 0; ; i++ {
		next := strings.Index(rest[i:], "--")
		if next < 0 {
			s.text, s.pos = rest, len(s.source)
			return
		}
		i += next
		for _, end := range []string{"-->", "--!>"} {
			if strings.HasPrefix(rest[i:], end) {
				s.text, s.pos = rest[:i], begin+i+len(end)
				return
			}
		}
	}
}

// readTag reads a tag whose name begins after skip bytes. A tag that is cut off yields nothing.
func (s *scanner) readTag(skip int, token tokenKind) tokenKind {
	begin := s.pos + skip
	i := begin
	for i < len(s.source) && !endsName[s.source[i]] {
		i++
	}
	s.name = s.source[begin:i]
	s.tag = tagOf(s.name)
	s.set.has, s.selfClosing = 0, false
	attrs := attrReader{source: s.source, pos: i}
	for attrs.next() {
		if token == startToken {
			s.set.keep(attrs.name, attrs.value)
		}
	}
	s.attrs, s.pos = s.source[i:attrs.pos], attrs.pos
	if !attrs.ended {
		return endOfPage
	}
	s.selfClosing = attrs.selfClosing
	if token == startToken && s.tag != 0 && elements[s.tag].is(rawContent) {
		s.raw = s.tag
	}
	return token
}

// rawText reads the content of an element whose content is not markup. It reports whether there is any.
func (s *scanner) rawText() bool {
	tag := s.raw
	s.raw = 0
	rest := s.source[s.pos:]
	length := len(rest)
	switch tag {
	case tagPlaintext:
	case tagScript:
		length = scriptLength(rest)
	default:
		length = indexEndTag(rest, elements[tag].name)
	}
	s.text, s.at, s.isRaw = rest[:length], s.pos, !elements[tag].is(entities)
	s.tag = tag
	s.pos += length
	return length > 0
}

// indexEndTag returns the offset of the end tag with the name, or the length of the text if there is none.
func indexEndTag(text, name string) int {
	for i := 0; ; i += 2 {
		next := strings.Index(text[i:], "</")
		if next < 0 {
			return len(text)
		}
		i += next
		if isTagAt(text[i+2:], name) {
			return i
		}
	}
}

// isTagAt reports whether text begins with the name of a tag that ends there.
func isTagAt(text, name string) bool {
	return len(text) > len(name) && strings.EqualFold(text[:len(name)], name) && endsName[text[len(name)]]
}

// scriptLength is the length of a script: within "<!--" and "-->", a "<script" of its own takes the next end tag.
func scriptLength(text string) int {
	escaped, nested := false, false
	for i := 0; i < len(text); i++ {
		next := strings.IndexAny(text[i:], "<-")
		if next < 0 {
			break
		}
		i += next
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "<!--"):
			escaped = true
			i++ // "<!-->" is an end, too
		case strings.HasPrefix(rest, "-->"):
			escaped, nested = false, false
		case strings.HasPrefix(rest, "</") && isTagAt(rest[2:], "script"):
			if !nested {
				return i
			}
			nested = false
		case escaped && rest[0] == '<' && isTagAt(rest[1:], "script"):
			nested = true
		}
	}
	return len(text)
}

// An attrSet holds the attributes of a tag that Read uses.
type attrSet struct {
	has    uint32
	values [attrCount]string
}

// keep stores an attribute; the first of a name counts.
func (s *attrSet) keep(name, value string) {
	if id, ok := attributeNames.find(name); ok && s.has&(1<<id) == 0 {
		s.has |= 1 << id
		s.values[id] = value
	}
}

// read takes the attributes of a tag from its text.
func (s *attrSet) read(attrs string) {
	s.has = 0
	for r := (attrReader{source: attrs}); r.next(); {
		s.keep(r.name, r.value)
	}
}

// get returns an attribute with its character references decoded; empty if it is absent.
func (s *attrSet) get(id attrName) string {
	if s.has&(1<<id) == 0 {
		return ""
	}
	return unescapeAttribute(s.values[id])
}

// An attrReader reads the attributes of a tag.
type attrReader struct {
	source      string
	pos         int
	name, value string
	selfClosing bool
	ended       bool // the tag has ended, and was not cut off
}

// next reads one attribute; it returns false at the end of the tag.
func (r *attrReader) next() bool {
	slash := false
	for ; r.pos < len(r.source); r.pos++ {
		c := r.source[r.pos]
		if c != '/' && !isSpaceByte(c) {
			break
		}
		slash = c == '/'
	}
	if r.pos == len(r.source) {
		return false
	}
	if r.source[r.pos] == '>' {
		r.pos++
		r.ended, r.selfClosing = true, slash
		return false
	}
	begin := r.pos
	r.pos++ // an equals sign here is part of the name
	for r.pos < len(r.source) && !endsName[r.source[r.pos]] && r.source[r.pos] != '=' {
		r.pos++
	}
	r.name, r.value = r.source[begin:r.pos], ""
	after := r.pos
	for after < len(r.source) && isSpaceByte(r.source[after]) {
		after++
	}
	if after < len(r.source) && r.source[after] == '=' {
		r.pos = after + 1
		r.readValue()
	}
	return true
}

func (r *attrReader) readValue() {
	for r.pos < len(r.source) && isSpaceByte(r.source[r.pos]) {
		r.pos++
	}
	if r.pos == len(r.source) {
		return
	}
	begin := r.pos
	switch quote := r.source[r.pos]; quote {
	case '"', '\'':
		end := strings.IndexByte(r.source[begin+1:], quote)
		if end < 0 {
			r.pos = len(r.source)
			return
		}
		r.value = r.source[begin+1 : begin+1+end]
		r.pos = begin + end + 2
	default:
		for r.pos < len(r.source) && !isSpaceByte(r.source[r.pos]) && r.source[r.pos] != '>' {
			r.pos++
		}
		r.value = r.source[begin:r.pos]
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSpaceByte(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// endsName holds the characters that end the name of a tag or an attribute.
var endsName = [256]bool{' ': true, '\n': true, '\t': true, '\r': true, '\f': true, '/': true, '>': true}
