package rulesfile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/postroom-go/postroom/rules"
)

// conditionPlaces maps the paths of [rules.ConditionError] to the positions of the parts of one condition in the file.
type conditionPlaces map[string]position

// find is the place of the part at path, or of the nearest part around it.
func (p conditionPlaces) find(path string) position {
	for {
		if at, ok := p[path]; ok || path == "" {
			return at
		}
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
}

var conditionKeys = []string{
	"op", "children", "type", "header", "fields", "index", "part", "match", "compare", "case_sensitive", "value", "values",
	"values_from", "pattern", "zone",
}

// condition reads the tree as it is written, noting places; [rules.Condition.Validate] checks it.
func (p *fileParser) condition(n ast.Node, path string, places conditionPlaces, depth int) rules.Condition {
	places[path] = positionOf(n)
	var c rules.Condition
	if depth > rules.MaxDepth+1 { // one more than Validate allows, so that it finds the fault
		return c
	}
	m := p.mapping(n, "a condition", conditionKeys)
	if m == nil {
		return c
	}
	text := func(key string, set func(string)) {
		n, ok := m.values[key]
		if !ok {
			return
		}
		places[rules.JoinPath(path, key)] = positionOf(n)
		if value, ok := p.text(n, key); ok {
			set(value)
		}
	}
	text("op", func(s string) { c.Op = rules.Op(s) })
	text("type", func(s string) { c.Type = rules.Kind(s) })
	text("value", func(s string) { c.Value = s })
	text("header", func(s string) { c.Header = s })
	text("pattern", func(s string) { c.Pattern = s })
	text("part", func(s string) { c.Part = s })
	text("match", func(s string) { c.Match = rules.Match(s) })
	text("compare", func(s string) { c.Compare = rules.Compare(s) })
	text("zone", func(s string) { c.Zone = s })
	p.conditionLists(m, &c, path, places)
	if children, ok := m.values["children"]; ok {
		places[rules.JoinPath(path, "children")] = positionOf(children)
		for i, child := range p.list(children, "children") {
			childPath := rules.JoinPath(path, fmt.Sprintf("children[%d]", i))
			c.Children = append(c.Children, p.condition(child, childPath, places, depth+1))
		}
	}
	return c
}

// conditionLists reads the fields of a predicate that are not texts.
func (p *fileParser) conditionLists(m *mapping, c *rules.Condition, path string, places conditionPlaces) {
	list := func(key string, set func([]string)) {
		n, ok := m.values[key]
		if !ok {
			return
		}
		places[rules.JoinPath(path, key)] = positionOf(n)
		if key == "values" {
			places[rules.JoinPath(path, "value")] = positionOf(n)
		}
		texts := []string{}
		for i, entry := range p.list(n, key) {
			places[rules.JoinPath(path, fmt.Sprintf("%s[%d]", key, i))] = positionOf(entry)
			text, _ := p.text(entry, "an entry of "+key)
			texts = append(texts, text)
		}
		set(texts)
	}
	list("values", func(texts []string) { c.Values = texts })
	list("fields", func(texts []string) { c.Fields = texts })
	if n, ok := m.values["values_from"]; ok {
		places[rules.JoinPath(path, "values")], places[rules.JoinPath(path, "value")] = positionOf(n), positionOf(n)
		c.Values = append(c.Values, p.valuesFrom(n)...)
	}
	if n, ok := m.values["case_sensitive"]; ok {
		places[rules.JoinPath(path, "case_sensitive")] = positionOf(n)
		c.CaseSensitive = p.boolean(n, "case_sensitive")
	}
	if n, ok := m.values["index"]; ok {
		places[rules.JoinPath(path, "index")] = positionOf(n)
		c.Index = p.integer(n, "index")
	}
}

// valuesFrom reads a file of values: one on each line; empty lines, and those that begin with #, do not count.
func (p *fileParser) valuesFrom(n ast.Node) []string {
	name, ok := p.text(n, "values_from")
	if !ok {
		return nil
	}
	if p.config.files == nil {
		p.problem(positionOf(n), "the rules come from no directory in which files could be", "write the values out as values")
		return nil
	}
	if !fs.ValidPath(name) {
		p.problem(positionOf(n), fmt.Sprintf("%q is no file below the one of the rules", name),
			"write a relative path without dots, as in senders.txt")
		return nil
	}
	data, err := readBounded(p.config.files, name)
	if err != nil {
		p.problem(positionOf(n), err.Error(), "")
		return nil
	}
	var values []string
	for line := range strings.Lines(strings.TrimPrefix(data, "\uFEFF")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			values = append(values, line)
		}
	}
	if len(values) == 0 {
		p.problem(positionOf(n), fmt.Sprintf("the file %q holds no values", name), "write one on each line")
	}
	return values
}

// readBounded reads a file of text.
func readBounded(files fs.FS, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > MaxFileSize:
		return "", fmt.Errorf("the file %q is larger than %d bytes", name, MaxFileSize)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", fmt.Errorf("the file %q is not text in UTF-8", name)
	}
	return string(data), nil
}
