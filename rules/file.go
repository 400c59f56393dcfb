package rules

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/postroom-go/postroom"
)

// A File is a rules file that has been read and checked.
type File struct {
	Name string
	// Labels are the names that the rules need; the host creates those that do not exist.
	Labels []string
	// Rules are in the order of the file, which decides between rules of one priority.
	Rules []Rule
	// Warnings are not errors, but probably not what the author meant.
	Warnings []Problem
}

// maxFileSize bounds what is read: far beyond what a person writes.
const maxFileSize = 1 << 20

// A ParseOption changes what [Parse] accepts.
type ParseOption func(*parseConfig)

type parseConfig struct{ actions []postroom.ActionType }

// Supporting names the actions that the host can execute; a rule with another is an error. Without it all are accepted.
func Supporting(actions ...postroom.ActionType) ParseOption {
	return func(c *parseConfig) { c.actions = actions }
}

// ParseFile reads the rules file at path; see [Parse].
func ParseFile(path string, options ...ParseOption) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	defer f.Close()
	return Parse(path, f, options...)
}

// Parse reads a rules file, whose name is for messages. What is wrong with it comes back as one [*FileError] that holds
// every problem with its line and column; other errors are those of reading.
func Parse(name string, r io.Reader, options ...ParseOption) (*File, error) {
	config := parseConfig{actions: postroom.ActionTypes()}
	for _, option := range options {
		option(&config)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read rules: %s: %w", name, err)
	}
	p := &fileParser{
		source: newSource(name, string(data)),
		config: config,
		file:   &File{Name: name},
		names:  map[string]position{},
	}
	if root := p.root(); root != nil {
		p.document(root)
	}
	p.file.Warnings = inOrder(p.warnings)
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.file, nil
}

func newSource(name, text string) *source {
	text = strings.TrimPrefix(text, "\uFEFF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return &source{name: name, lines: strings.Split(text, "\n")}
}

// A fileParser reads one file.
type fileParser struct {
	*source
	config parseConfig
	file   *File
	names  map[string]position // of the rules so far
}

// root refuses what the YAML parser should not be given.
func (p *fileParser) root() ast.Node {
	size := 0
	for i, line := range p.lines {
		size += len(line) + 1
		switch {
		case !utf8.ValidString(line):
			p.problem(position{i + 1, 1}, "the line is not UTF-8", "save the file as UTF-8")
			return nil
		case size > maxFileSize:
			p.problem(position{}, fmt.Sprintf("the file is larger than %d bytes", maxFileSize), "split it")
			return nil
		case strings.ContainsRune(line, 0):
			p.problem(position{i + 1, 1}, "the line holds a NUL character", "remove it")
			return nil
		}
	}
	if line := deepLine(p.lines); line > 0 {
		p.problem(position{line, 1}, "brackets are nested too deeply", "close them, or put text that holds brackets in quotes")
		return nil
	}
	return p.parseYAML(strings.Join(p.lines, "\n"))
}

func (p *fileParser) document(root ast.Node) {
	m := p.mapping(root, "the file", []string{"labels", "rules"})
	if m == nil {
		return
	}
	if n, ok := m.values["labels"]; ok {
		p.labels(n)
	}
	n, ok := m.values["rules"]
	if !ok {
		if len(p.problems) == 0 {
			p.problem(position{}, "the file holds no rules", "write rules: and below it one entry for each rule, as - name: …")
		}
		return
	}
	for _, entry := range p.list(n, "rules") {
		p.rule(entry)
	}
}

func (p *fileParser) labels(n ast.Node) {
	for _, entry := range p.list(n, "labels") {
		name, ok := p.text(entry, "a label")
		switch {
		case !ok:
		case strings.TrimSpace(name) == "":
			p.problem(positionOf(entry), "a label needs a name", "")
		case containsFold(p.file.Labels, name):
			p.problem(positionOf(entry), fmt.Sprintf("label %q is listed twice", name), "Gmail does not tell upper from lower case; remove one")
		default:
			p.file.Labels = append(p.file.Labels, name)
		}
	}
}

var ruleKeys = []string{
	"name", "description", "enabled", "scope", "scope_ref", "priority", "condition", "action", "parameters", "safe_mode",
}

func (p *fileParser) rule(n ast.Node) {
	m := p.mapping(n, "a rule", ruleKeys)
	if m == nil {
		return
	}
	before := len(p.problems)
	r := New("", Condition{}, "", nil)
	p.readFields(m, &r)
	r.Position = len(p.file.Rules) + 1
	r.normalize()

	var places conditionPlaces
	if condition, ok := m.values["condition"]; ok {
		places = conditionPlaces{}
		r.Condition = p.condition(condition, "", places, 1)
	}
	p.checkRule(m, &r, places, before)
	p.file.Rules = append(p.file.Rules, r)
}

func (p *fileParser) readFields(m *mapping, r *Rule) {
	text := func(key string, set func(string)) {
		if n, ok := m.values[key]; ok {
			if value, ok := p.text(n, key); ok {
				set(value)
			}
		}
	}
	text("name", func(s string) { r.Name = s })
	text("description", func(s string) { r.Description = s })
	text("scope", func(s string) { r.Scope = Scope(s) })
	text("scope_ref", func(s string) { r.ScopeRef = s })
	text("action", func(s string) { r.Action = postroom.ActionType(s) })
	text("safe_mode", func(s string) { r.SafeMode = postroom.SafeMode(s) })
	if n, ok := m.values["enabled"]; ok {
		r.Enabled = p.boolean(n, "enabled")
	}
	if n, ok := m.values["priority"]; ok {
		r.Priority = p.integer(n, "priority")
	}
	if n, ok := m.values["parameters"]; ok {
		r.Parameters = postroom.Parameters{}
		if params := p.mapping(n, "parameters", nil); params != nil {
			for _, key := range params.keys {
				r.Parameters[key] = p.plain(params.values[key], "parameter "+key)
			}
		}
	}
}

// checkRule reports what the rule's own validation finds, each fault at its place, unless the place has been reported.
func (p *fileParser) checkRule(m *mapping, r *Rule, places conditionPlaces, before int) {
	reported := map[position]bool{}
	for _, problem := range p.problems[before:] {
		reported[position{problem.Line, problem.Column}] = true
	}
	report := func(at position, message, hint string) {
		if !reported[at] {
			p.problem(at, message, hint)
		}
	}
	for _, f := range r.faults() {
		p.ruleFault(m, r, f, report)
	}
	if places == nil {
		report(m.at, "the rule has no condition", "write condition: and what mail it is for, as {type: sender_domain, value: example.com}")
	} else {
		for _, e := range conditionErrors(r.Condition) {
			report(places.find(e.Path), e.text(), "")
		}
	}
	p.warnLabelIDs(r.Condition, "", places)
	p.checkAction(m, r, report)
	p.checkDuplicate(m, r)
}

func (p *fileParser) ruleFault(m *mapping, r *Rule, f fault, report func(position, string, string)) {
	n, written := m.values[f.field]
	switch f.field {
	case "action":
		f.hint = suggest(string(r.Action), actionNames(p.config.actions), "the actions are")
	case "parameters":
		f.hint = fmt.Sprintf("write parameters: {%s: …}", postroom.ParamLabel)
	}
	if written {
		report(positionOf(n), f.detail, f.hint)
		return
	}
	switch f.field {
	case "name":
		report(m.at, f.detail, "write name: and a short name")
	case "action":
		report(m.at, "the rule has no action", "write action: and one of "+strings.Join(actionNames(p.config.actions), ", "))
	case "parameters":
		report(positionOf(m.values["action"]), f.detail, f.hint)
	case "scope_ref":
		report(positionOf(m.values["scope"]), f.detail, f.hint)
	}
}

func (p *fileParser) checkDuplicate(m *mapping, r *Rule) {
	n, ok := m.values["name"]
	if !ok || r.Name == "" {
		return
	}
	if first, taken := p.names[r.Name]; taken {
		p.problem(positionOf(n), fmt.Sprintf("rule %q is already defined on line %d", r.Name, first.line), "give each rule a name of its own")
		return
	}
	p.names[r.Name] = positionOf(n)
}

func conditionErrors(c Condition) []*ConditionError {
	var found []*ConditionError
	err := c.Validate()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if ce := (*ConditionError)(nil); errors.As(e, &ce) {
				found = append(found, ce)
			}
		}
	}
	return found
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, s) })
}
