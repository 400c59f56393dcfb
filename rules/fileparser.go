package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/postroom-go/postroom"
)

// A fileParser reads one file.
type fileParser struct {
	*source
	config parseConfig
	file   *File
	names  map[string]position // of the rules so far
}

// root refuses what the YAML parser should not be given.
func (p *fileParser) root() ast.Node {
	for i, line := range p.lines {
		switch {
		case !utf8.ValidString(line):
			p.problem(position{i + 1, 1}, "the line is not UTF-8", "save the file as UTF-8")
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
		case strings.ContainsFunc(name, unicode.IsControl):
			p.problem(positionOf(entry), "the label's name holds characters that cannot be shown", "write it on one line")
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
	r := NewRule("", Condition{}, "", nil)
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
