package txend

import "strings"

// The kinds of tokens that are not punctuation of one byte.
const (
	nothing byte = 0   // the text is over
	aWord   byte = 'w' // a keyword or a name without quotes
	other   byte = 'o'
)

// A lexer splits a text like the engine, as far as needed to ignore the content of quotes and comments. The engine
// refuses a malformed text as a whole, or from the fault on.
type lexer struct {
	text     string
	at       int
	postgres bool
	escaping bool // the previous token was a string with backslashes, which may continue on another line
}

// next returns the kind of the next token, and a word's text.
func (l *lexer) next() (kind byte, word string) {
	from := l.at
	l.skipBlank()
	if l.at >= len(l.text) {
		return nothing, ""
	}
	goesOn := l.escaping && strings.ContainsAny(l.text[from:l.at], "\n\r")
	l.escaping = false
	switch c := l.text[l.at]; {
	case startsWord(c):
		return l.word()
	case c == '\'':
		l.quoted(c, goesOn)
	case c == '"', c == '`' && !l.postgres:
		l.quoted(c, false)
	case c == '[' && !l.postgres:
		l.past("]")
	case c == '$' && l.postgres:
		l.dollar()
	case '0' <= c && c <= '9':
		for l.at < len(l.text) && goesOnWord(l.text[l.at]) && l.text[l.at] != '$' {
			l.at++
		}
	default:
		l.at++
		if c == ';' || c == '(' || c == ')' {
			return c, ""
		}
	}
	return other, ""
}

// word reads a word, and the string after it if the word is the E of one.
func (l *lexer) word() (kind byte, word string) {
	from := l.at
	for l.at < len(l.text) && goesOnWord(l.text[l.at]) {
		l.at++
	}
	word = l.text[from:l.at]
	if l.postgres && strings.EqualFold(word, "E") && strings.HasPrefix(l.text[l.at:], "'") {
		l.quoted('\'', true)
		return other, ""
	}
	return aWord, word
}

// skipBlank skips white space and comments. Those of PostgreSQL nest.
func (l *lexer) skipBlank() {
	for l.at < len(l.text) {
		switch rest := l.text[l.at:]; {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "--"):
			l.line()
		case strings.HasPrefix(rest, "/*"):
			l.comment()
		default:
			return
		}
	}
}

// line skips to the end of the line. PostgreSQL takes a carriage return for one, SQLite does not.
func (l *lexer) line() {
	ends := "\n"
	if l.postgres {
		ends = "\n\r"
	}
	if n := strings.IndexAny(l.text[l.at:], ends); n >= 0 {
		l.at += n
		return
	}
	l.at = len(l.text)
}

func (l *lexer) comment() {
	l.at += len("/*")
	for depth := 1; depth > 0 && l.at < len(l.text); {
		switch rest := l.text[l.at:]; {
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.at += 2
		case l.postgres && strings.HasPrefix(rest, "/*"):
			depth++
			l.at += 2
		default:
			l.at++
		}
	}
}

// quoted skips a quoted text; two quotes stand for one.
func (l *lexer) quoted(quote byte, backslashes bool) {
	l.escaping = backslashes
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == '\\' && backslashes:
			l.at++
		case c != quote:
		case l.at+1 < len(l.text) && l.text[l.at+1] == quote:
			l.at++
		default:
			l.at++
			return
		}
	}
	l.at = len(l.text)
}

// dollar skips a parameter, or a text between two $tag$.
func (l *lexer) dollar() {
	end := l.at + 1
	for end < len(l.text) && goesOnWord(l.text[end]) && l.text[end] != '$' {
		end++
	}
	tag := l.text[l.at:end]
	if end == len(l.text) || l.text[end] != '$' || len(tag) > 1 && !startsWord(tag[1]) {
		l.at++
		return
	}
	l.at = end + 1
	l.past(tag + "$")
}

// past skips to the end of the mark.
func (l *lexer) past(mark string) {
	if n := strings.Index(l.text[l.at:], mark); n >= 0 {
		l.at += n + len(mark)
		return
	}
	l.at = len(l.text)
}

func startsWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

func goesOnWord(c byte) bool { return startsWord(c) || '0' <= c && c <= '9' || c == '$' }
