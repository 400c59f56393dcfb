package rulesfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A position is a place in a file, both from 1; the zero position is the whole file.
type position struct{ line, column int }

func tokenPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

// positionOf returns the position at which a value begins.
func positionOf(n ast.Node) position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return positionOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return positionOf(n.Key)
	}
	return tokenPosition(n.GetToken())
}

// A mapping is a YAML mapping with text keys.
type mapping struct {
	at     position
	keys   []string // in the order of the file
	values map[string]ast.Node
}

// mapping reads a mapping and complains about keys that are not among the allowed ones; nil allows all.
func (s *source) mapping(n ast.Node, what string, allowed []string) *mapping {
	pairs, ok := pairsOf(n)
	if !ok {
		s.wrongType(n, what, "a mapping of keys and values")
		return nil
	}
	m := &mapping{at: positionOf(n), values: map[string]ast.Node{}}
	for _, pair := range pairs {
		key, ok := textOfNode(pair.Key)
		if !ok {
			s.problem(positionOf(pair.Key), "a key of "+what+" is not text", "write a plain word")
			continue
		}
		if allowed != nil && !slices.Contains(allowed, key) {
			s.problem(positionOf(pair.Key), fmt.Sprintf("unknown key %q in %s", key, what),
				suggest.Instead(key, allowed, "the keys are"))
			// Reading on as if the nearest key had been written keeps one slip from causing a second complaint.
			key = suggest.Nearest(key, allowed)
		}
		if _, taken := m.values[key]; taken || key == "" {
			continue
		}
		m.keys = append(m.keys, key)
		m.values[key] = pair.Value
	}
	return m
}

func pairsOf(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// list reads a sequence.
func (s *source) list(n ast.Node, what string) []ast.Node {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		s.wrongType(n, what, "a list")
		return nil
	}
	return seq.Values
}

// Text reads a string; ok is false if the value is something else, which is then reported.
func (s *source) text(n ast.Node, what string) (string, bool) {
	text, ok := textOfNode(n)
	if !ok {
		s.wrongType(n, what, "text")
	}
	return text, ok
}

func textOfNode(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimRight(n.Value.Value, "\n"), true
	}
	return "", false
}

// boolean reads true or false, and integer a whole number; anything else is reported.
func (s *source) boolean(n ast.Node, what string) bool {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		s.wrongType(n, what, "true or false")
		return false
	}
	return b.Value
}

func (s *source) integer(n ast.Node, what string) int {
	if i, ok := n.(*ast.IntegerNode); ok {
		switch v := i.Value.(type) {
		case int64:
			return int(v)
		case uint64:
			return int(min(v, math.MaxInt64))
		}
	}
	s.wrongType(n, what, "a whole number")
	return 0
}

// wrongType reports the type found where another is expected.
func (s *source) wrongType(n ast.Node, what, wanted string) {
	hint := ""
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		if wanted == "text" {
			hint = fmt.Sprintf("put it in quotes: %q", n.GetToken().Value)
		}
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		hint = "anchors, aliases and tags are not supported; write it out"
	}
	s.problem(positionOf(n), fmt.Sprintf("%s must be %s, not %s", what, wanted, described(n)), hint)
}

func described(n ast.Node) string {
	switch n := n.(type) {
	case *ast.NullNode:
		return "empty"
	case *ast.StringNode:
		return fmt.Sprintf("the text %.40q", n.Value)
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return n.GetToken().Value
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	default:
		return strings.ToLower(n.Type().YAMLName())
	}
}

// plain converts a node into the result of encoding/json for the same value.
func (s *source) plain(n ast.Node, what string) any {
	switch n := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.StringNode, *ast.LiteralNode:
		text, _ := textOfNode(n)
		return text
	case *ast.IntegerNode:
		number, err := strconv.ParseFloat(fmt.Sprint(n.Value), 64)
		if err != nil {
			s.wrongType(n, what, "a number")
		}
		return number
	case *ast.FloatNode:
		return n.Value
	case *ast.SequenceNode:
		values := make([]any, len(n.Values))
		for i, v := range n.Values {
			values[i] = s.plain(v, what)
		}
		return values
	case *ast.MappingNode, *ast.MappingValueNode:
		values := map[string]any{}
		if m := s.mapping(n, what, nil); m != nil {
			for _, key := range m.keys {
				values[key] = s.plain(m.values[key], what)
			}
		}
		return values
	}
	s.wrongType(n, what, "text, a number, true or false, a list or a mapping")
	return nil
}
