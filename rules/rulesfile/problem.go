package rulesfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Problem is one fault, one warning or one note about a rules file.
type Problem struct {
	File   string
	Line   int // from 1; 0 when it is about the whole file
	Column int // in characters, from 1
	// Message describes the fault, Hint the correction; Hint may be empty.
	Message string
	Hint    string
	// Source is the line of the file.
	Source string
}

// String formats the problem as compilers do, with the line and a caret under the place:
//
//	rules.yaml:4:13: unknown action "archiv"; did you mean archive?
//	   4 |     action: archiv
//	     |             ^
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": " + p.Message)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "\n%4d | %s\n     | %s^", p.Line, p.Source, padding(p.Source, p.Column))
	}
	return b.String()
}

// padding returns blanks as wide as the text before the column, tabs included.
func padding(line string, column int) string {
	var b strings.Builder
	for _, r := range line {
		if column--; column <= 0 {
			break
		}
		if r == '\t' {
			b.WriteRune('\t')
		} else {
			b.WriteRune(' ')
		}
	}
	return b.String()
}

// A FileError lists the problems of a rules file in the order of its lines; it is never empty.
type FileError struct {
	Name     string
	Problems []Problem
}

// Error formats all problems, a blank line between them.
func (e *FileError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.String()
	}
	return strings.Join(texts, "\n\n")
}

// A source is the text of a file, with its problems, warnings and notes.
type source struct {
	name     string
	lines    []string
	problems []Problem
	warnings []Problem
	notes    []Problem
}

func (s *source) problem(at position, message, hint string) {
	s.problems = append(s.problems, s.at(at, message, hint))
}

func (s *source) warning(at position, message, hint string) {
	s.warnings = append(s.warnings, s.at(at, message, hint))
}

func (s *source) note(at position, message string) {
	s.notes = append(s.notes, s.at(at, message, ""))
}

// maxShown keeps a message readable that is about a very long line.
const maxShown = 160

func (s *source) at(at position, message, hint string) Problem {
	p := Problem{File: s.name, Line: min(at.line, len(s.lines)), Column: max(at.column, 1), Message: message, Hint: hint}
	if p.Line > 0 {
		p.Source = s.lines[p.Line-1]
		p.Column = min(p.Column, utf8.RuneCountInString(p.Source)+1)
		if runes := []rune(p.Source); len(runes) > maxShown {
			p.Source = string(runes[:maxShown]) + "…"
		}
	}
	return p
}

func (s *source) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	return &FileError{Name: s.name, Problems: inOrder(s.problems)}
}

func inOrder(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}
