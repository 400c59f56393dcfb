package rulesfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// root refuses input that must not reach the YAML parser.
func (s *source) root() ast.Node {
	for i, line := range s.lines {
		switch {
		case !utf8.ValidString(line):
			s.problem(position{i + 1, 1}, "the line is not UTF-8", "save the file as UTF-8")
			return nil
		case strings.ContainsRune(line, 0):
			s.problem(position{i + 1, 1}, "the line holds a NUL character", "remove it")
			return nil
		}
	}
	if line := deepLine(s.lines); line > 0 {
		s.problem(position{line, 1}, "brackets are nested too deeply",
			"close them, or put text that holds brackets in quotes")
		return nil
	}
	return s.parseYAML(strings.Join(s.lines, "\n"))
}

// parseYAML returns the root of the only document; nil if there is none or it is faulty.
func (s *source) parseYAML(text string) ast.Node {
	file, err := parseGuarded(text)
	if err != nil {
		s.syntaxProblem(err)
		return nil
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			s.problem(positionOf(doc.Body), "the file holds a second document", "remove the line --- and what follows it")
			return nil
		default:
			root = doc.Body
		}
	}
	if root == nil {
		s.problem(position{}, "the file is empty", "write rules: and at least one rule")
	}
	return root
}

// QUIRK: goccy/go-yaml panics on some malformed input; to the author of the file that is a syntax error like others.
func parseGuarded(text string) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	return parser.ParseBytes([]byte(text), 0)
}

func (s *source) syntaxProblem(err error) {
	var at position
	message := "bad YAML: " + err.Error()
	if located := yaml.Error(nil); errors.As(err, &located) {
		at, message = tokenPosition(located.GetToken()), "bad YAML: "+located.GetMessage()
	}
	hint := ""
	switch {
	case strings.Contains(message, "'\t'"):
		message, hint = "bad YAML: a tab where blanks belong", "indent with blanks"
	case strings.Contains(message, "reserved character"), strings.Contains(message, "not allowed in this context"):
		hint = "put the whole value in single quotes"
	case strings.Contains(message, "already defined"):
		hint = "remove one of the two"
	}
	s.problem(at, message, hint)
}
