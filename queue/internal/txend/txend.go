// Package txend recognizes statements that end their transaction. The function given to Write must not run one: Write
// ends the transaction when the function returns, and writes after such a statement would commit by themselves.
package txend

import (
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

// Refuse returns an error with advice if one of the statements of the text would end its transaction. undoes reports
// that the statement is a rollback: then nothing may be committed, even if the error is ignored.
func Refuse(dialect driver.Dialect, text string) (undoes bool, err error) {
	word := find(dialect, text)
	if word == "" {
		return false, nil
	}
	return word == "ROLLBACK" || word == "ABORT",
		fmt.Errorf("%s: %s would end the transaction, which ends with the function given to Write: return nil "+
			"to commit, return an error to roll back, or undo a part with SAVEPOINT and ROLLBACK TO", dialect, word)
}

// find returns the first word of the first statement that ends the transaction, in upper case, or "".
func find(dialect driver.Dialect, text string) string {
	if harmless(text) {
		return ""
	}
	l := lexer{text: text, postgres: dialect == driver.Postgres}
	for {
		s, more := l.statement()
		if s.ends() {
			return strings.ToUpper(s.first)
		}
		if !more {
			return ""
		}
	}
}

// harmless reports whether the text is one statement whose first letter begins no statement that ends a transaction. It
// returns false for some harmless texts.
func harmless(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n\f\v")
	if text == "" {
		return true
	}
	switch text[0] | 0x20 {
	case 'a', 'c', 'e', 'p', 'r': // ABORT, COMMIT, END, PREPARE, ROLLBACK
		return false
	}
	if c := text[0]; !startsWord(c) {
		return false
	}
	at := strings.IndexByte(text, ';')
	return at < 0 || strings.TrimRight(text[at+1:], " \t\r\n\f\v") == ""
}

// A statement has the relevant facts of one statement.
type statement struct {
	first, second, last string
	words               int
	to                  bool // the word TO is in it

	parens  int
	routine bool // it creates one
	body    bool // inside the statements of the routine, it ends after them
	begins  bool // a statement of the routine begins
}

// statement reads to the end of a statement, and reports whether others may follow.
func (l *lexer) statement() (s statement, more bool) {
	for {
		switch kind, word := l.next(); kind {
		case nothing:
			return s, false
		case aWord:
			s.add(word, l.postgres)
		case '(':
			s.parens++
		case ')':
			s.parens = max(0, s.parens-1)
		case ';':
			if s.parens == 0 && !s.body { // a rule of PostgreSQL has statements in parentheses
				return s, true
			}
			s.begins = true
		}
	}
}

func (s *statement) add(word string, postgres bool) {
	switch s.words++; s.words {
	case 1:
		s.first = word
	case 2:
		s.second = word
	}
	begins := s.begins
	s.begins = false
	switch {
	case s.body:
		// An END within one of its statements belongs to a CASE, or is the name of a column.
		s.body = !begins || !strings.EqualFold(word, "END")
	case s.parens == 0 && s.routine && opens(s.last, word, postgres):
		s.body, s.begins = true, true
	case s.words <= 4 && strings.EqualFold(s.first, "CREATE"):
		s.routine = s.routine || isOne(word, "FUNCTION", "PROCEDURE", "TRIGGER")
	}
	s.to = s.to || strings.EqualFold(word, "TO")
	s.last = word
}

// opens reports whether the words begin the body of a routine: CREATE TRIGGER … BEGIN of SQLite, CREATE FUNCTION …
// BEGIN ATOMIC of PostgreSQL.
func opens(last, word string, postgres bool) bool {
	if postgres {
		return strings.EqualFold(last, "BEGIN") && strings.EqualFold(word, "ATOMIC")
	}
	return strings.EqualFold(word, "BEGIN")
}

// ends reports whether the statement ends its transaction. COMMIT PREPARED and similar statements cannot run in one,
// and make it fail.
func (s *statement) ends() bool {
	switch {
	case isOne(s.first, "COMMIT", "END", "ABORT"):
		return true
	case strings.EqualFold(s.first, "ROLLBACK"):
		return !s.to
	case strings.EqualFold(s.first, "PREPARE"):
		return strings.EqualFold(s.second, "TRANSACTION")
	}
	return false
}

func isOne(word string, of ...string) bool {
	for _, each := range of {
		if strings.EqualFold(word, each) {
			return true
		}
	}
	return false
}
