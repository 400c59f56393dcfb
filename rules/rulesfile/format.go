package rulesfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// Format returns the canonical form of a rules file, or of a file with tests: keys in their usual order, two spaces
// for each level, on one line what fits, quotes only where needed, a blank line between rules. Comments stay before,
// behind or below the same entry. Formatting is idempotent.
//
// The file must be YAML without anchors, aliases and tags; its content is not checked and does not change. The name
// is for error messages. A fault is a [*FileError].
func Format(name string, data []byte) ([]byte, error) {
	s, err := sourceOf(name, data)
	if err != nil {
		return nil, err
	}
	tree := s.tree(s.root())
	if err := s.err(); err != nil {
		return nil, err
	}
	comments := s.comments()
	tree.attach(comments)
	preamble := tree.takePreamble()
	tree.arrange(&fileShape)
	out := tree.format(preamble)
	return out, s.verify(tree, comments, out)
}

// verify returns an error unless the formatted text has the content of the tree, with the same comments. Even a bug
// of the YAML parser must not cost a user a rule.
func (s *source) verify(tree *docNode, comments []docComment, out []byte) error {
	again, err := sourceOf(s.name, out)
	if err != nil {
		return err
	}
	reread := again.tree(again.root())
	if err := again.err(); err != nil {
		return fmt.Errorf("%s: the formatted text would not be read: %w", s.name, err)
	}
	reread.arrange(&fileShape)
	if !reread.equal(tree) {
		return fmt.Errorf("%s: %w", s.name, errFormatDiffers)
	}
	if !slices.Equal(commentTexts(again.comments()), commentTexts(comments)) {
		return fmt.Errorf("%s: %w", s.name, errFormatComments)
	}
	return nil
}

var (
	errFormatDiffers  = errors.New("the formatted text would say something else; the file stays as it is")
	errFormatComments = errors.New("the formatted text would not hold all comments; the file stays as it is")
)

// takePreamble removes and returns the comments at the beginning of the file that a blank line separates from the
// rest: they are about the whole file.
func (n *docNode) takePreamble() []docComment {
	if len(n.entries) == 0 {
		return nil
	}
	first := n.entries[0]
	for i := len(first.head); i > 0; i-- {
		if i == len(first.head) && first.blank || i < len(first.head) && first.head[i].blank {
			preamble := slices.Clone(first.head[:i])
			first.head = first.head[i:]
			return preamble
		}
	}
	return nil
}

// commentTexts are sorted: formatting may move a comment together with its subject.
func commentTexts(comments []docComment) []string {
	texts := lists.Texts(comments, func(c docComment) string { return c.text })
	slices.Sort(texts)
	return texts
}

// A docNode is a value of a file that is formatted.
type docNode struct {
	kind    docKind
	text    string // of a scalar
	entries []*docEntry
	flow    bool     // in brackets or braces
	end     position // of the closing bracket
	foot    []docComment

	owner *docEntry // nil of the root
	block bool      // it is written over several lines, whatever it holds
}

type docKind uint8

const (
	docText  docKind = iota // a text, which is quoted where that is needed
	docPlain                // a number, true, false or null, as written
	docMapping
	docList
)

// A docEntry is an entry of a mapping or of a list.
type docEntry struct {
	key   string // of a mapping
	value *docNode
	at    position
	of    *docNode

	blank bool // a blank line stands before it
	head  []docComment
	tail  string // the comment behind it
}

// tree reads a value; it is not nil. A value that cannot be formatted is a problem.
func (s *source) tree(n ast.Node) *docNode {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return s.mappingTree(n)
	case *ast.SequenceNode:
		return s.listTree(n)
	case *ast.StringNode, *ast.LiteralNode:
		text, _ := textOfNode(n)
		return &docNode{kind: docText, text: text}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &docNode{kind: docPlain, text: n.GetToken().Value}
	case *ast.NullNode:
		return &docNode{kind: docPlain, text: "null"}
	case nil: // the problem has been reported
	default:
		s.wrongType(n, "a value", "text, a number, true or false, a list or a mapping")
	}
	return &docNode{kind: docPlain}
}

func (s *source) mappingTree(n ast.Node) *docNode {
	tree := &docNode{kind: docMapping}
	if m, ok := n.(*ast.MappingNode); ok && m.IsFlowStyle {
		tree.flow, tree.end = true, tokenPosition(m.End)
	}
	m := s.mapping(n, "a mapping", nil)
	if m == nil {
		return tree
	}
	pairs, _ := pairsOf(n)
	for _, pair := range pairs {
		if key, ok := textOfNode(pair.Key); ok {
			s.addEntry(tree, &docEntry{key: key, at: positionOf(pair.Key)}, pair.Value)
		}
	}
	return tree
}

func (s *source) listTree(n *ast.SequenceNode) *docNode {
	tree := &docNode{kind: docList}
	if n.IsFlowStyle {
		tree.flow, tree.end = true, tokenPosition(n.End)
	}
	for i, value := range n.Values {
		at := positionOf(value)
		if !n.IsFlowStyle && i < len(n.Entries) && n.Entries[i] != nil {
			at = tokenPosition(n.Entries[i].Start)
		}
		s.addEntry(tree, &docEntry{at: at}, value)
	}
	return tree
}

func (s *source) addEntry(tree *docNode, e *docEntry, value ast.Node) {
	e.value, e.of = s.tree(value), tree
	e.value.owner = e
	e.blank = s.blankBefore(e.at.line)
	tree.entries = append(tree.entries, e)
}

// equal reports whether two trees say the same, comments and style aside.
func (n *docNode) equal(other *docNode) bool {
	return n.kind == other.kind && n.text == other.text && slices.EqualFunc(n.entries, other.entries,
		func(a, b *docEntry) bool {
			return a.key == b.key && a.value.equal(b.value)
		})
}
