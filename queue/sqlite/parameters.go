package sqlite

import (
	"errors"
	"strings"
)

// numbered returns the text with its parameters $1, $2, … as ?1, ?2, …, which is what they are on PostgreSQL: SQLite
// takes $2 for a name, and gives names the numbers 1, 2, … in the order in which they first appear. What stands in
// quotes, comments and names stays as it is.
func numbered(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		n := token(text)
		if isNumber(text[:n]) {
			out.WriteString("?" + text[1:n])
		} else {
			out.WriteString(text[:n])
		}
		text = text[n:]
	}
	return out.String()
}

// errSeveral refuses parameters that each statement of a text would count anew.
var errSeveral = errors.New("sqlite: a text with parameters has several statements: run each by itself, " +
	"as on PostgreSQL")

// single returns an error if a text with parameters $1, $2, … has several statements.
func single(text string) error {
	if !strings.Contains(text, ";") {
		return nil
	}
	var ended, several, numbers bool
	for len(text) > 0 {
		n := token(text)
		switch part := text[:n]; {
		case part == ";":
			ended = true
		case isBlank(part):
		default:
			several = several || ended
			numbers = numbers || isNumber(part)
		}
		text = text[n:]
	}
	if several && numbers {
		return errSeveral
	}
	return nil
}

// isEmpty reports whether the text has no statement, but at most blanks and comments.
func isEmpty(text string) bool {
	for len(text) > 0 {
		n := token(text)
		if !isBlank(text[:n]) {
			return false
		}
		text = text[n:]
	}
	return true
}

// isBlank reports whether the token is a blank, a comment, or what follows a NUL.
func isBlank(token string) bool {
	return strings.TrimSpace(token) == "" || token[0] == 0 || strings.HasPrefix(token, "--") ||
		strings.HasPrefix(token, "/*")
}

// isNumber reports whether the token is $ and a number.
func isNumber(token string) bool {
	return len(token) > 1 && token[0] == '$' && token[1] != '0' && strings.Trim(token[1:], "0123456789") == ""
}

// token returns the length of the first token of the text, as SQLite reads it. What follows a NUL is not read.
func token(text string) int {
	switch c := text[0]; {
	case c == 0:
		return len(text)
	case c == '\'' || c == '"' || c == '`':
		return quoted(text)
	case c == '[':
		return until(text, 1, "]")
	case strings.HasPrefix(text, "--"):
		return until(text, 2, "\n")
	case strings.HasPrefix(text, "/*") && len(text) > 2:
		return until(text, 3, "*/")
	case c == '$' || c == '@' || c == ':' || c == '#':
		return variable(text)
	case goesOn(c):
		n := 1
		for n < len(text) && goesOn(text[n]) {
			n++
		}
		return n
	}
	return 1
}

// variable returns the length of a parameter with a name, which may have the suffixes of a variable of Tcl.
func variable(text string) int {
	n := 1
	for n < len(text) {
		switch {
		case goesOn(text[n]):
			n++
		case strings.HasPrefix(text[n:], "::"):
			n += 2
		case text[n] == '(' && n > 1:
			if end := strings.IndexAny(text[n:], ") \t\n\v\f\r\x00"); end >= 0 && text[n+end] == ')' {
				return n + end + 1
			}
			return len(text)
		default:
			return n
		}
	}
	return n
}

// quoted returns the length of a quoted text; two quotes in it stand for one.
func quoted(text string) int {
	for n := 1; n < len(text); n++ {
		switch {
		case text[n] == 0:
			return len(text)
		case text[n] != text[0]:
		case n+1 < len(text) && text[n+1] == text[0]:
			n++
		default:
			return n + 1
		}
	}
	return len(text)
}

// until returns the length up to the end of the mark, which is looked for from an index on.
func until(text string, from int, mark string) int {
	if n := strings.Index(text[from:], mark); n >= 0 {
		return from + n + len(mark)
	}
	return len(text)
}

// goesOn reports whether the character may be part of a name.
func goesOn(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}
