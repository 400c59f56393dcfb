package authres

import (
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"strings"
)

// Results is one server's report on the authentication of a message: the value of an Authentication-Results field
// (RFC 8601, section 2.2). Anyone can write such a field; [Read] returns those that can be trusted.
type Results struct {
	// ServID names the reporting server in lower case.
	ServID  string
	Results []Result
}

// A Result is the result of one method.
type Result struct {
	Method string // in lower case: "spf", "dkim", "dmarc", "arc" and others
	Result string // in lower case: "pass", "fail", "softfail", "neutral", "none", "temperror", "permerror" and others
	Reason string
	// Comment is the first comment after the result. Gmail and others put facts there that have no place in the
	// standard, such as the policy of DMARC. It is for people.
	Comment    string
	Properties []Property
}

// A Property is a property that a result is about, such as smtp.mailfrom or header.d.
type Property struct {
	Type  string // in lower case: "smtp", "header", "body" or "policy"
	Name  string // in lower case
	Value string
}

// Property returns the value of the first property of the type and name, which must be in lower case. It is empty if
// there is none.
func (r Result) Property(kind, name string) string {
	for _, p := range r.Properties {
		if p.Type == kind && p.Name == name {
			return p.Value
		}
	}
	return ""
}

// maxResults bounds the results and the properties of one field.
const maxResults = 200

// maxName bounds the bytes of a name that is assembled from pieces.
const maxName = 200

// Parse parses the raw value of an Authentication-Results field. It returns false for a value that has no authserv-id
// or an unknown version. It leaves out results that cannot be read, and all of them if a comment may end in two
// places: a server writes the sender's address into comments, and a quoted local part can hold parentheses.
//
// QUIRK: Exchange writes fields without an authserv-id. Their author is unknown. Sample: auth-no-id.
func Parse(value string) (Results, bool) {
	l := lexer{s: value}
	var results Results
	id, isWord := l.value()
	if !isWord || strings.Contains(id, "=") {
		return Results{}, false
	}
	results.ServID = strings.ToLower(id)
	if version, given := l.value(); given && version != "1" {
		return Results{}, false
	}
	for l.next() && len(results.Results) < maxResults {
		if r, ok := l.result(); ok {
			results.Results = append(results.Results, r)
		}
	}
	if l.doubtful {
		results.Results = nil
	}
	return results, true
}

// A lexer holds the unread text of a field.
type lexer struct {
	s       string
	comment string // the last one that was skipped
	// doubtful reports that a comment ends elsewhere for a reader that knows quoted-strings in it.
	doubtful bool
}

// blanks skips white space and comments. A comment that does not end takes the rest.
func (l *lexer) blanks() {
	for {
		l.s = strings.TrimLeft(l.s, " \t\r\n")
		if !strings.HasPrefix(l.s, "(") {
			return
		}
		text, rest, closed := fieldvalue.CutComment(l.s)
		if strings.Contains(l.s[:len(l.s)-len(rest)], `"`) || !closed && strings.Contains(l.s, `"`) {
			l.doubtful = l.doubtful || !closed || len(rest) != len(restOfQuoting(l.s))
		}
		if !closed {
			l.s = ""
			return
		}
		l.s, l.comment = rest, text
	}
}

// restOfQuoting returns the text after the comment at the start of s, if a parenthesis in a quoted-string does not end
// it.
func restOfQuoting(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[i+1:]
			}
		case '"':
			_, rest, closed := fieldvalue.CutQuoted(s[i:])
			if !closed {
				return ""
			}
			i = len(s) - len(rest) - 1
		}
	}
	return ""
}

// next moves to the part after the next semicolon.
func (l *lexer) next() bool {
	for l.blanks(); l.s != ""; l.blanks() {
		if l.s[0] == ';' {
			l.s = l.s[1:]
			return true
		}
		l.value()
	}
	return false
}

// value reads a token or a quoted-string (RFC 2045, section 5.1).
func (l *lexer) value() (text string, ok bool) {
	l.blanks()
	if strings.HasPrefix(l.s, `"`) {
		text, rest, closed := fieldvalue.CutQuoted(l.s)
		if !closed {
			text, rest = l.s[1:], ""
		}
		l.s = rest
		return text, true
	}
	return l.word(" \t\r\n;(")
}

// word reads up to one of the characters.
func (l *lexer) word(end string) (text string, ok bool) {
	i := strings.IndexAny(l.s, end)
	if i < 0 {
		i = len(l.s)
	}
	text, l.s = l.s[:i], l.s[i:]
	return text, i > 0
}

// pair reads name=value. Blanks and comments may stand on both sides of the sign, and around dots and slashes in the
// name.
func (l *lexer) pair() (name, value string, ok bool) {
	for {
		l.blanks()
		if strings.HasPrefix(l.s, "=") {
			l.s = l.s[1:]
			value, ok = l.value()
			return strings.ToLower(name), value, ok && name != ""
		}
		more, isWord := l.word(" \t\r\n;(=")
		if !isWord || name != "" && !glued(name, more) || len(name) > maxName {
			return "", "", false
		}
		name += more
	}
}

func glued(before, after string) bool {
	return strings.HasSuffix(before, ".") || strings.HasSuffix(before, "/") || after[0] == '.' || after[0] == '/'
}

// result reads one result with its reason and properties (RFC 8601, section 2.2, resinfo).
func (l *lexer) result() (Result, bool) {
	var r Result
	method, result, ok := l.pair()
	method, version, _ := strings.Cut(method, "/")
	if !ok || version != "" && version != "1" {
		return r, false
	}
	r.Method, r.Result = method, strings.ToLower(result)
	l.comment = ""
	l.blanks()
	r.Comment = fieldvalue.Diagnostic(l.comment)
	for l.blanks(); l.s != "" && l.s[0] != ';' && len(r.Properties) < maxResults; l.blanks() {
		name, value, ok := l.pair()
		switch kind, property, isProperty := strings.Cut(name, "."); {
		case name == "reason":
			r.Reason = value
		case ok && isProperty:
			r.Properties = append(r.Properties, Property{Type: kind, Name: property, Value: value})
		}
	}
	return r, true
}
