package rules

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// conditionPlaces maps the paths of [ConditionError] to the positions of the parts of one condition in the file.
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

var conditionKeys = []string{"op", "children", "type", "value", "header", "pattern"}

// condition reads the tree as it stands, noting places; what it must be is [Condition.Validate]'s business.
func (p *fileParser) condition(n ast.Node, path string, places conditionPlaces, depth int) Condition {
	places[path] = positionOf(n)
	var c Condition
	if depth > maxDepth+1 { // one more than Validate allows, so that it finds the fault
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
		places[joinPath(path, key)] = positionOf(n)
		if value, ok := p.text(n, key); ok {
			set(value)
		}
	}
	text("op", func(s string) { c.Op = Op(s) })
	text("type", func(s string) { c.Type = Kind(s) })
	text("value", func(s string) { c.Value = s })
	text("header", func(s string) { c.Header = s })
	text("pattern", func(s string) { c.Pattern = s })
	if children, ok := m.values["children"]; ok {
		places[joinPath(path, "children")] = positionOf(children)
		for i, child := range p.list(children, "children") {
			childPath := joinPath(path, fmt.Sprintf("children[%d]", i))
			c.Children = append(c.Children, p.condition(child, childPath, places, depth+1))
		}
	}
	return c
}
