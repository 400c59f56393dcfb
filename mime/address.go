package mime

import (
	"bytes"
	"strings"

	"github.com/postroom-go/postroom/mime/charset"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
)

// An Address is a mailbox (RFC 5322, section 3.4).
type Address struct {
	Name  string // the display name, decoded; anyone can write anything here
	Email string // the address as it is written; never empty in parsed addresses
	// Group is the decoded name of the group that lists the address (RFC 5322, section 3.4); empty outside of groups. A
	// built message writes neighbours of the same Group as one group. An Address with only a Group is a group without
	// members, such as undisclosed-recipients.
	Group string
}

// ParseAddresses parses the raw value of an address field such as To. It replaces groups by their members, which name
// the group, and leaves out names without an address. It never fails: if the value is malformed, ok is false and
// addresses has the addresses that could be read. It reads at most 100,000 addresses.
func ParseAddresses(value string) (addresses []Address, ok bool) {
	return parseAddresses(value, maxItems, nil)
}

func parseAddresses(value string, limit int, words *charset.Words) (addresses []Address, ok bool) {
	p := addressParser{s: value, ok: true, words: words, tail: len(value) - strings.LastIndex(value, "?=")}
	for p.s != "" && len(p.found) < limit {
		p.mailbox()
	}
	return p.found, p.ok && p.s == ""
}

// An addressParser holds the unread text and the addresses so far. Encoded-words are decoded only after the text has
// been split (RFC 2047, section 5), so that none can become an address.
type addressParser struct {
	s     string
	ok    bool
	found []Address

	// A quote or a comment that does not end is an ordinary character, and the parser does not look for the end again.
	// That keeps hostile input linear. So does tail, the bytes from the last "?=" on: no encoded-word begins in it.
	quoteOpen, commentOpen bool
	tail                   int

	group string // the open one
	// names are the texts before commas since the last address: the beginning of a name that has commas.
	names []string
	words *charset.Words
}

// A mailbox is the part of one address that has been read.
type mailbox struct {
	phrase  strings.Builder // the words as text, without quotes
	comment string

	email string
	angle bool // email was given in angle brackets

	// Without brackets, the first word that can be an address is the address, and the other words are the name.
	word bareWord
	rest strings.Builder
}

// A bareWord is text without blanks around it.
type bareWord struct {
	raw, text []byte // with and without quotes
	isAddress bool
}

// mailbox reads up to the next separator. A semicolon, which ends a group, separates as well: Outlook writes it that
// way.
func (p *addressParser) mailbox() {
	var m mailbox
	blank := false
	for p.s != "" {
		c := p.s[0]
		switch {
		case c == ',' || c == ';':
			p.s = p.s[1:]
			p.add(&m)
			if c == ';' {
				p.group, p.names = "", nil
			}
			return
		case isBlank(c):
			p.s, blank = p.s[1:], true
			continue
		case c == '(' && !p.commentOpen:
			p.comment(&m)
			continue
		case c == '<':
			p.next(&m)
			p.angle(&m)
		case c == ':' && !m.angle && m.email == "" && !m.word.isAddress:
			p.s = p.s[1:]
			if strings.EqualFold(strings.TrimSpace(m.phrase.String()), "mailto") {
				p.ok, m = false, mailbox{}
				continue
			}
			group, _ := decodeWords(strings.TrimSpace(m.phrase.String()), p.words)
			p.group = fieldvalue.OneLine(group) // once per group, not for each member
			p.names = nil
			m = mailbox{}
		default:
			p.next(&m)
			raw, text := p.word()
			m.add(raw, text, blank)
		}
		blank = false
	}
	p.add(&m)
}

// next begins another mailbox after an address in angle brackets.
//
// QUIRK: "A <a@x> B <b@x>": the comma is missing. Sample: address-comma.
func (p *addressParser) next(m *mailbox) {
	if m.angle {
		p.ok = false
		p.add(m)
		*m = mailbox{}
	}
}

func (p *addressParser) comment(m *mailbox) {
	text, rest, closed := fieldvalue.CutComment(p.s)
	p.s, p.commentOpen = rest, !closed
	if !closed {
		p.ok = false
		return
	}
	m.comment = text
}

// word reads a quoted-string, an encoded-word, or an atom with the characters that an address may contain.
func (p *addressParser) word() (raw, text string) {
	if p.s[0] == '"' && !p.quoteOpen {
		text, rest, closed := fieldvalue.CutQuoted(p.s)
		if closed {
			raw = p.s[:len(p.s)-len(rest)]
			p.s = rest
			return raw, text
		}
		p.quoteOpen, p.ok = true, false
		p.s = rest[1:]
		return "", ""
	}
	// QUIRK: encoded-words with commas and other special characters in them occur. Sample: address-word-comma.
	if rest, found := p.encodedWord(); found {
		raw = p.s[:len(p.s)-len(rest)]
		p.s = rest
		return raw, raw
	}
	end := 1
	for end < len(p.s) && !endsWord(p.s[end]) {
		end++
	}
	raw = p.s[:end]
	p.s = p.s[end:]
	return raw, raw
}

func endsWord(c byte) bool {
	switch c {
	case ',', ';', ':', '<', '(', '"':
		return true
	default:
		return isBlank(c)
	}
}

// encodedWord cuts an encoded-word off the text, unless an address could stand in it: then the word is broken, and ends
// where another part of the field ends.
func (p *addressParser) encodedWord() (rest string, found bool) {
	if len(p.s) < p.tail {
		return "", false
	}
	_, rest, found = cutWord(p.s)
	return rest, found && !strings.ContainsAny(p.s[:len(p.s)-len(rest)], "<>@\"")
}

// add appends a word to the phrase, and joins it to the address that it may be part of: old mail has blanks around
// "@" and "." (RFC 5322, section 4.4).
func (m *mailbox) add(raw, text string, blank bool) {
	if blank {
		m.phrase.WriteByte(' ')
	}
	m.phrase.WriteString(text)
	if blank && !m.word.glues(raw) {
		m.endWord()
	}
	m.word.raw, m.word.text = append(m.word.raw, raw...), append(m.word.text, text...)
	if raw != "" && raw[0] != '"' && strings.Contains(raw, "@") && !strings.HasPrefix(raw, "=?") {
		m.word.isAddress = true
	}
}

// glues reports whether the text after a blank still belongs to the word.
func (w *bareWord) glues(next string) bool {
	return bytes.HasSuffix(w.raw, []byte{'@'}) || bytes.HasSuffix(w.raw, []byte{'.'}) || strings.HasPrefix(next, "@") ||
		w.isAddress && strings.HasPrefix(next, ".")
}

func (m *mailbox) endWord() {
	if m.word.isAddress && m.email == "" {
		m.email = string(m.word.raw)
	} else if len(m.word.text) > 0 {
		if m.rest.Len() > 0 {
			m.rest.WriteByte(' ')
		}
		m.rest.Write(m.word.text)
	}
	m.word = bareWord{raw: m.word.raw[:0], text: m.word.text[:0]}
}

// angle reads an address in angle brackets, without comments, blanks and the obsolete route (RFC 5322, section 4.4).
func (p *addressParser) angle(m *mailbox) {
	var email strings.Builder
	p.s = p.s[1:]
	for p.s != "" && p.s[0] != '>' {
		c := p.s[0]
		switch {
		case isBlank(c):
			p.s = p.s[1:]
		case c == '(' && !p.commentOpen:
			p.comment(m)
		case c == ';' || c == ',' && !strings.HasPrefix(email.String(), "@"):
			p.ok = false // QUIRK: no closing bracket. Sample: address-bracket.
			m.set(email.String())
			return
		case c == '<':
			p.ok = false
			if p.bracketWithin(m, &email) {
				return
			}
		default:
			email.WriteString(p.angleText())
		}
	}
	p.ok = p.ok && p.s != ""
	p.s = strings.TrimLeft(p.s, ">")
	m.set(email.String())
}

// bracketWithin reads an angle bracket after the one of an address. It reports whether the address ends before it.
//
// QUIRK: "<<a@x>>", "<a@x<mailto:a@x>>", "love <3 <a@x>", and a closing bracket that is missing. Sample:
// address-brackets.
func (p *addressParser) bracketWithin(m *mailbox, email *strings.Builder) (ends bool) {
	switch before := email.String(); {
	case before == "":
	case isMailto(p.s[1:]):
		const longest = 400
		if end := strings.IndexByte(p.s[:min(len(p.s), longest)], '>'); end >= 0 {
			p.s = p.s[end:]
			return false
		}
	case strings.Contains(before, "@"):
		m.set(before)
		return true
	default:
		m.phrase.WriteString(" <" + before + " ")
		email.Reset()
	}
	p.s = p.s[1:]
	return false
}

// angleText reads a quoted local part with its quotes, or one character.
func (p *addressParser) angleText() string {
	if p.s[0] == '"' && !p.quoteOpen {
		_, rest, closed := fieldvalue.CutQuoted(p.s)
		if closed {
			raw := p.s[:len(p.s)-len(rest)]
			p.s = rest
			return raw
		}
		p.quoteOpen, p.ok = true, false
	}
	c := p.s[:1]
	p.s = p.s[1:]
	return c
}

func (m *mailbox) set(email string) {
	if strings.HasPrefix(email, "@") {
		email = email[strings.LastIndexByte(email, ':')+1:]
	}
	m.email, m.angle = email, true
}

// add ends a mailbox. A name without an address begins the name of the next one in angle brackets, or is left out.
//
// QUIRK: names with commas and without quotes occur. Sample: 19-comma-name.
func (p *addressParser) add(m *mailbox) {
	a := Address{Name: m.phrase.String(), Email: m.email}
	if !m.angle {
		m.endWord()
		a = Address{Name: m.rest.String(), Email: m.email}
	}
	if a.Email == "" {
		if name := strings.TrimSpace(a.Name); name != "" {
			p.ok = false
			p.names = append(p.names, name)
		}
		return
	}
	if a.Name == "" {
		a.Name = m.comment // joe@x (Joe), from before RFC 822
	}
	// QUIRK: Outlook puts encoded-words inside quotes, where RFC 2047, section 5, forbids it; they are decoded there as
	// well. Sample: address-word-quoted.
	name, ok := decodeWords(strings.TrimSpace(a.Name), p.words)
	p.ok = p.ok && ok
	if m.angle && len(p.names) > 0 {
		for i := range p.names {
			p.names[i], _ = decodeWords(p.names[i], p.words)
		}
		name = strings.Join(append(p.names, name), ", ")
	}
	p.names = nil
	email := bareEmail(a.Email)
	p.found = append(p.found, Address{Name: fieldvalue.OneLine(name), Email: fieldvalue.OneLine(email), Group: p.group})
}

// bareEmail returns an address without what programs put around it.
//
// QUIRK: invisible characters, "mailto:", a pair of square brackets or apostrophes, a bracket that was not opened, and
// the dot that ends a full domain name. Sample: 101-trailing-dot.
func bareEmail(email string) string {
	const invisible = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2066\u2067\u2068\u2069\ufeff"
	bare := email
	for before := ""; bare != before; {
		before = bare
		bare = strings.Trim(bare, invisible)
		if isMailto(bare) {
			bare = bare[len(mailtoScheme):]
		}
		bare = strings.TrimRight(within(within(bare, "[", "]"), "'", "'"), ">")
	}
	if local, domain, found := strings.Cut(bare, "@"); found && local != "" && len(domain) > 1 {
		bare = strings.TrimRight(bare, ".")
	}
	if bare == "" {
		return email
	}
	return bare
}

// within returns what stands between a pair of marks, if there are no others.
func within(s, opening, closing string) string {
	inner, found := strings.CutPrefix(s, opening)
	inner, isClosed := strings.CutSuffix(inner, closing)
	if !found || !isClosed || strings.ContainsAny(inner, opening+closing) {
		return s
	}
	return inner
}

const mailtoScheme = "mailto:"

func isMailto(s string) bool {
	return len(s) > len(mailtoScheme) && strings.EqualFold(s[:len(mailtoScheme)], mailtoScheme)
}
