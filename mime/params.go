package mime

import (
	"github.com/postroom-go/postroom/mime/charset"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// parseParams parses a value with parameters (RFC 2045, section 5.1, with RFC 2231), such as Content-Type and
// Content-Disposition. The value and the names of parameters are in lower case. ok is false if rules were broken. It
// reads at most the given number of parameters. The words find the charsets of encoded-words; they may be nil.
func parseParams(s string, limit int, words *charset.Words) (value string, params map[string]string, ok bool) {
	p := paramParser{s: s, ok: true, words: words, semicolon: len(s) + 1}
	value = strings.ToLower(p.value())
	for p.skip(); p.s != "" && len(p.found) < limit; p.skip() {
		p.param()
	}
	return value, p.params(), p.ok && p.s == ""
}

// maxItems bounds the parameters, addresses or ids of one field without [Limits].
const maxItems = 100_000

// A paramParser holds the unread text and the parameters so far, in order.
type paramParser struct {
	s     string
	ok    bool
	found []param
	words *charset.Words

	// These keep hostile input linear: a comment that does not end, after which no other is looked for, and the bytes
	// from the last semicolon found to the end.
	unclosed  bool
	semicolon int
}

// A param is one parameter as it stands in the header.
type param struct {
	name     string
	section  int // RFC 2231, section 3; -1 without one
	extended bool
	value    string
}

// value reads up to the first semicolon or blank.
//
// QUIRK: the semicolon after the type may be missing: "multipart/mixed boundary=x". Sample: param-semicolon.
func (p *paramParser) value() string {
	p.blanks()
	end := strings.IndexAny(p.s, "; \t(")
	if end < 0 {
		end = len(p.s)
	}
	value := p.s[:end]
	if strings.Contains(value, "=") {
		p.ok = false // a parameter; the value is missing
		return ""
	}
	p.s = p.s[end:]
	p.blanks()
	p.ok = p.ok && (p.s == "" || p.s[0] == ';')
	return value
}

// blanks skips white space and comments.
func (p *paramParser) blanks() {
	for {
		p.s = strings.TrimLeft(p.s, " \t\r\n")
		if p.unclosed || !strings.HasPrefix(p.s, "(") {
			return
		}
		_, rest, closed := fieldvalue.CutComment(p.s)
		p.s, p.unclosed = rest, !closed
	}
}

// skip skips separators of parameters.
func (p *paramParser) skip() {
	for p.blanks(); strings.HasPrefix(p.s, ";"); p.blanks() {
		p.s = p.s[1:]
	}
}

// param reads one parameter, or skips invalid text.
func (p *paramParser) param() {
	end := strings.IndexAny(p.s, "=;")
	if end < 0 || p.s[end] == ';' {
		p.ok = false // text/html; iso-8859-1
		_, p.s, _ = strings.Cut(p.s, ";")
		return
	}
	name := strings.ToLower(strings.TrimSpace(p.s[:end]))
	p.s = p.s[end+1:]
	p.blanks()
	var value string
	if strings.HasPrefix(p.s, `"`) {
		value = p.quoted(name)
	} else {
		value = p.unquoted(name)
	}
	q := newParam(name, value)
	if q.name == "" { // "=x", "*=x", "*0=x"
		p.ok = false
		return
	}
	p.found = append(p.found, q)
}

// quoted reads a quoted-string.
//
// QUIRK: the closing quote may be missing. Sample: param-quote.
func (p *paramParser) quoted(name string) string {
	text, rest, closed := fieldvalue.CutQuoted(p.s)
	if !closed {
		p.ok = false
		p.s = p.s[1:]
		return p.unquoted(name)
	}
	p.s = rest
	return text
}

// unquoted reads a token.
//
// QUIRK: blanks and special characters, which need quotes, occur without them: "name=my file.pdf". So the token ends
// at a semicolon, or where a blank and the next "name=" follow. A blank and a parenthesis begin a comment, except in
// the names of files. Samples: param-blanks, param-no-semicolon.
func (p *paramParser) unquoted(name string) string {
	if p.semicolon > len(p.s) { // that one is passed
		before, _, _ := strings.Cut(p.s, ";")
		p.semicolon = len(p.s) - len(before)
	}
	value := p.s[:len(p.s)-p.semicolon]
	if !p.unclosed && !namesFile(name) {
		value, _, _ = strings.Cut(value, " (")
		value = strings.TrimRight(value, " \t")
	}
	if strings.ContainsAny(value, " \t=\"()<>@,:\\/[]?") {
		p.ok = false
		if next := nextParam.FindStringIndex(value); next != nil {
			value = value[:next[0]]
		}
	}
	p.s = p.s[len(value):]
	return strings.TrimSpace(value)
}

// nextParam matches the beginning of a usual parameter, after a blank.
var nextParam = regexp.MustCompile(`(?i)[ \t](charset|boundary|name|filename|format|type)\*?=`)

// newParam cuts the section and the star off a name (RFC 2231, sections 3 and 4).
func newParam(name, value string) param {
	q := param{name: name, section: -1, value: value}
	if base, star := strings.CutSuffix(q.name, "*"); star {
		q.name, q.extended = base, true
	}
	if base, number, found := strings.Cut(q.name, "*"); found {
		if n, err := strconv.Atoi(number); err == nil && n >= 0 {
			q.name, q.section = base, n
		}
	}
	return q
}

// params assembles the parameters. An extended one wins over a plain one (RFC 6266, section 4.3), then the first.
func (p *paramParser) params() map[string]string {
	if len(p.found) == 0 {
		return nil
	}
	sectioned := map[string][]param{}
	values := map[string]string{}
	extended := map[string]bool{}
	for _, q := range p.found {
		_, seen := values[q.name]
		switch {
		case q.section >= 0:
			sectioned[q.name] = append(sectioned[q.name], q)
		case q.extended && !extended[q.name]:
			values[q.name], extended[q.name] = p.join([]param{q}), true
		case !seen:
			values[q.name] = p.plain(q.name, q.value)
		case q.extended || !extended[q.name]:
			p.ok = false // repeated
		}
	}
	for name, sections := range sectioned {
		if !extended[name] {
			slices.SortStableFunc(sections, func(a, b param) int { return a.section - b.section })
			values[name] = p.join(sections)
		}
	}
	return values
}

// plain decodes a value that is not extended.
//
// QUIRK: RFC 2047, section 5, forbids encoded-words in parameters; Outlook, Gmail and many others name files that
// way. Sample: param-encoded-word.
func (p *paramParser) plain(name, value string) string {
	if !namesFile(name) {
		return value
	}
	text, ok := decodeWords(value, p.words)
	p.ok = p.ok && ok && text == value
	return fieldvalue.OneLine(text)
}

// namesFile reports whether a parameter is the name of a file, with or without a section or a star.
func namesFile(name string) bool {
	base, _, _ := strings.Cut(name, "*")
	return base == "name" || base == "filename"
}

// join decodes the sections of one parameter. The first one names the charset of all that are extended.
func (p *paramParser) join(sections []param) string {
	var octets []byte
	name, extended := "", false
	for i, q := range sections {
		if !q.extended {
			octets = append(octets, q.value...)
			continue
		}
		extended = true
		value := q.value
		if parts := strings.SplitN(value, "'", 3); len(parts) == 3 && i == 0 {
			name, value = parts[0], parts[2]
		}
		octets = appendPercent(octets, value)
	}
	if !extended {
		return p.plain(sections[0].name, string(octets))
	}
	text, problem := charset.Decode(octets, name)
	p.ok = p.ok && (problem == "" || name == "")
	return fieldvalue.OneLine(text)
}

func appendPercent(out []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c, ok := hexByte(s[i+1:]); ok && s[i] == '%' {
			out = append(out, c)
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return out
}
