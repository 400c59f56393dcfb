package mime

import (
	"bytes"
	"strings"
)

// An Address is a mailbox (RFC 5322, section 3.4).
type Address struct {
	Name  string // the display name, decoded; anyone can write anything here
	Email string // the address itself, as it is written; never empty in what was read
	// Group is the name of the group that the address was listed in, decoded (RFC 5322, section 3.4); empty outside of groups.
	// Where a message is built, neighbours of the same Group are written as one, and an address with a Group alone is a group
	// without members, such as undisclosed-recipients.
	Group string
}

// ParseAddresses reads the value of an address field such as To, not decoded. Groups are flattened to their members, which name them,
// and names without an address are left out. It never fails: when the value is
// malformed, ok is false and addresses holds what could be read.
// It reads 100,000 addresses at most.
func ParseAddresses(value string) (addresses []Address, ok bool) {
	return parseAddresses(value, maxItems)
}

func parseAddresses(value string, limit int) (addresses []Address, ok bool) {
	p := addressParser{s: value, ok: true, tail: len(value) - strings.LastIndex(value, "?=")}
	for p.s != "" && len(p.found) < limit {
		p.mailbox()
	}
	return p.found, p.ok && p.s == ""
}

// An addressParser holds what is left to read and the addresses so far. Encoded-words are decoded only after the text
// has been taken apart (RFC 2047, section 5), so that none can become an address.
type addressParser struct {
	s     string
	ok    bool
	found []Address

	// A quote, or a comment, that does not end is a character like others, and none is looked for again. That keeps
	// hostile input linear, and so does tail: the bytes from the last "?=" on, in which no encoded-word begins.
	quoteOpen, commentOpen bool
	tail                   int

	group string // the one that is open
}

// A mailbox is the part of one address that has been read.
type mailbox struct {
	phrase  strings.Builder // the words as text, quotes taken off
	comment string

	email string
	angle bool // email was given in angle brackets

	// Without brackets, the first word that can be an address is one, and the others are the name.
	word bareWord
	rest strings.Builder
}

// A bareWord is text without blanks around it.
type bareWord struct {
	raw, text []byte // with and without quotes
	isAddress bool
}

// mailbox reads up to the next separator. A semicolon, which ends a group, separates as well: Outlook writes it so.
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
				p.group = ""
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
			group, _ := decodeWords(strings.TrimSpace(m.phrase.String()))
			p.group = singleLine(group) // once, and not for each member
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

// next begins another mailbox behind an address in angle brackets.
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
	text, rest, closed := cutComment(p.s)
	p.s, p.commentOpen = rest, !closed
	if !closed {
		p.ok = false
		return
	}
	m.comment = text
}

// word reads a quoted-string, an encoded-word, or an atom together with what may stand in an address.
func (p *addressParser) word() (raw, text string) {
	if p.s[0] == '"' && !p.quoteOpen {
		text, rest, closed := cutQuoted(p.s)
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

func (p *addressParser) encodedWord() (rest string, found bool) {
	if len(p.s) < p.tail {
		return "", false
	}
	_, rest, found = cutWord(p.s)
	return rest, found
}

// add appends a word to the phrase, and glues it to the address it may be part of: old mail has blanks around "@" and
// "." (RFC 5322, section 4.4).
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

// glues reports whether the text behind a blank still belongs to the word.
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

// angle reads an address in angle brackets: without comments, blanks and the route of old (RFC 5322, section 4.4).
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
		case c == '<': // QUIRK: "<<a@x>>". Sample: address-brackets.
			p.ok = false
			p.s = p.s[1:]
		default:
			email.WriteString(p.angleText())
		}
	}
	p.ok = p.ok && p.s != ""
	p.s = strings.TrimLeft(p.s, ">")
	m.set(email.String())
}

// angleText reads a quoted local part with its quotes, or one character.
func (p *addressParser) angleText() string {
	if p.s[0] == '"' && !p.quoteOpen {
		_, rest, closed := cutQuoted(p.s)
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

// add ends a mailbox. A name alone is none.
func (p *addressParser) add(m *mailbox) {
	a := Address{Name: m.phrase.String(), Email: m.email}
	if !m.angle {
		m.endWord()
		a = Address{Name: m.rest.String(), Email: m.email}
	}
	if a.Email == "" {
		p.ok = p.ok && a.Name == ""
		return
	}
	if a.Name == "" {
		a.Name = m.comment // joe@x (Joe), from before RFC 822
	}
	// QUIRK: Outlook puts encoded-words inside quotes, where RFC 2047, section 5, forbids it; they are decoded there
	// too. Sample: address-word-quoted.
	name, ok := decodeWords(strings.TrimSpace(a.Name))
	p.ok = p.ok && ok
	p.found = append(p.found, Address{Name: singleLine(name), Email: singleLine(a.Email), Group: p.group})
}
