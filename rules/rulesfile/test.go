package rulesfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
)

// A Test is a message and the expected result of the rules of a file.
type Test struct {
	Name string
	// File and Line are its place.
	File string
	Line int

	Message    *postroom.Message
	SenderSeen bool // the account has had mail from the sender before
	// Past is what other mail tells. Theirs is at least the time at which the message was received.
	Past rules.Past
	// Authenticated reports whether the file says that the sender is verified; the header of Message does so, too.
	Authenticated bool
	// Now is when the message is decided about. The default in a file is the time at which the message was received;
	// else its Date; else noon of 15 January 2026, a Thursday.
	Now time.Time

	// Rules are the names of the rules that must match, in their order. Nil: any.
	Rules []string
	// Without are the names of rules that must not match.
	Without []string
	// Actions are the expected decisions, in order; nil: any, empty: none, since no rule matches. Nil Parameters match any
	// parameters; others must be equal.
	Actions []rules.RuleAction
}

// defaultTestTime is the time of a test that names none.
var defaultTestTime = time.Date(2026, time.January, 15, 12, 0, 0, 0, time.UTC)

// ParseTestFile reads the tests of the file at path; see [ParseTests].
func ParseTestFile(path string, options ...ParseOption) ([]Test, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read tests: %w", err)
	}
	defer f.Close()
	return ParseTests(path, f, append([]ParseOption{WithFiles(os.DirFS(filepath.Dir(path)))}, options...)...)
}

// ParseTests parses a file that has only tests, in the form of a rules file's tests; see [File.Tests]. The name is
// for error messages. A faulty file is a [*FileError]; other errors are those of r.
func ParseTests(name string, r io.Reader, options ...ParseOption) ([]Test, error) {
	if err := fields.Required("rules: ParseTests: r", r, "the text of the file"); err != nil {
		return nil, err
	}
	p, err := newFileParser(name, r, options)
	if err != nil {
		return nil, err
	}
	if root := p.root(); root != nil {
		p.testDocument(root)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.file.Tests, nil
}

func (p *fileParser) testDocument(root ast.Node) {
	m := p.mapping(root, "a file of tests", []string{"tests"})
	if m == nil {
		return
	}
	n, ok := m.values["tests"]
	if !ok {
		p.problem(position{}, "the file holds no tests", "write tests: and below it one entry for each test, as - name: …")
		return
	}
	p.tests(n)
}

func (p *fileParser) tests(n ast.Node) {
	names := map[string]position{}
	for _, entry := range p.list(n, "tests") {
		m := p.mapping(entry, "a test", testKeys)
		if m == nil {
			continue
		}
		t := Test{File: p.name, Line: m.at.line}
		p.testName(m, &t, names)
		p.testMessage(m, &t)
		p.expected(m, &t)
		p.file.Tests = append(p.file.Tests, t)
	}
}

func (p *fileParser) testName(m *mapping, t *Test, names map[string]position) {
	n, ok := m.values["name"]
	if !ok {
		p.problem(m.at, "the test has no name", "write name: and what it shows")
		return
	}
	t.Name, _ = p.text(n, "name")
	if first, taken := names[t.Name]; taken {
		p.problem(positionOf(n), fmt.Sprintf("test %q is already defined on line %d", t.Name, first.line),
			"give each test a name of its own")
	}
	names[t.Name] = positionOf(n)
	if detail := rules.CheckName(t.Name); detail != "" {
		p.problem(positionOf(n), detail, "write a short name on one line")
	}
}

// testMessage reads the message in: a file, a description, or both.
func (p *fileParser) testMessage(m *mapping, t *Test) {
	spec := &testMail{}
	eml, fromFile := m.values["eml"]
	if fromFile {
		spec.raw = p.emlFile(eml)
	}
	switch n, described := m.values["message"]; {
	case described:
		p.testMail(n, spec, fromFile)
	case !fromFile:
		p.problem(m.at, "the test has no message", "write message: and its fields, or eml: and the name of a file")
		return
	}
	if len(p.problems) > 0 {
		return
	}
	parsed, err := mime.ParseBytes(spec.bytes(), nil)
	if err != nil { // no limit was given
		p.problem(m.at, err.Error(), "")
		return
	}
	t.Message, t.SenderSeen, t.Authenticated = spec.message(parsed), spec.senderSeen, spec.authenticated
	t.Past = spec.past
	t.Now = t.Message.ReceivedAt
	if n, ok := m.values["now"]; ok {
		t.Now = p.instant(n, "now")
	}
}

func (p *fileParser) emlFile(n ast.Node) []byte {
	name, ok := p.text(n, "eml")
	switch {
	case !ok:
		return nil
	case p.config.files == nil:
		p.problem(positionOf(n), "the tests come from no directory in which files could be",
			"write the message out as message")
		return nil
	case !fs.ValidPath(name):
		p.problem(positionOf(n), fmt.Sprintf("%q is no file below the one of the tests", name),
			"write a relative path without dots, as in mails/receipt.eml")
		return nil
	}
	f, err := p.config.files.Open(name)
	if err == nil {
		defer f.Close()
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(f, maxEML+1)); err == nil && len(data) <= maxEML {
			return data
		}
	}
	if err == nil {
		err = fmt.Errorf("the file %q is larger than %d bytes", name, maxEML)
	}
	p.problem(positionOf(n), err.Error(), "")
	return nil
}

// maxEML is the size of the largest message that Gmail takes.
const maxEML = 36_700_160

// expected reads the expected decisions.
func (p *fileParser) expected(m *mapping, t *Test) {
	actions, both := m.values["actions"]
	names, named := m.values["rules"]
	without, excludes := m.values["without"]
	if !both && !named && !excludes {
		p.problem(m.at, "the test expects nothing",
			"write actions: and what must be done, as [archive], or [] where no rule may match")
		return
	}
	if named {
		t.Rules = p.ruleNames(names, "rules")
	}
	if excludes {
		t.Without = p.ruleNames(without, "without")
	}
	if both {
		t.Actions = []rules.RuleAction{}
		for _, entry := range p.list(actions, "actions") {
			t.Actions = append(t.Actions, p.expectedAction(entry))
		}
	}
}

func (p *fileParser) ruleNames(n ast.Node, key string) []string {
	list := []string{}
	for _, entry := range p.list(n, key) {
		if name, ok := p.text(entry, "an entry of "+key); ok {
			list = append(list, name)
		}
	}
	return list
}

// expectedAction reads the name of an action, or a mapping with its parameters.
func (p *fileParser) expectedAction(n ast.Node) rules.RuleAction {
	var a rules.RuleAction
	at := n
	if text, ok := textOfNode(n); ok {
		a.Type = postroom.ActionType(text)
	} else if m := p.mapping(n, "an action", actionKeys); m != nil {
		name, ok := m.values["action"]
		if !ok {
			p.problem(m.at, "the entry names no action", "write action: and its name")
			return a
		}
		text, _ := p.text(name, "action")
		a.Type, at = postroom.ActionType(text), name
		if given, ok := m.values["parameters"]; ok {
			a.Parameters = p.parameters(given)
		}
	} else {
		return a
	}
	for _, f := range rules.ActionFaults(p.config.kinds, a.Type, nil) {
		if f.Field == "action" {
			p.problem(positionOf(at), f.Detail, f.Hint)
		}
	}
	return a
}

// instant reads a time, or a day for its beginning.
func (p *fileParser) instant(n ast.Node, what string) time.Time {
	text, ok := p.text(n, what)
	if !ok {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	p.problem(positionOf(n), fmt.Sprintf("%s is no time: %q", what, text),
		"write it as 2026-01-31T08:00:00Z, or a day as 2026-01-31")
	return time.Time{}
}

// texts reads a text, or a list of texts.
func (p *fileParser) texts(n ast.Node, what string) []string {
	seq, isList := n.(*ast.SequenceNode)
	if !isList {
		seq = &ast.SequenceNode{Values: []ast.Node{n}}
	}
	texts := []string{}
	for _, entry := range seq.Values {
		if text, ok := p.text(entry, what); ok {
			texts = append(texts, text)
		}
	}
	return slices.Clip(texts)
}
